package a;
import java.util.List;
import static org.junit.Assert.*;
/** doc */
@Ann("x")
public class A<T> extends B {
  @Override
  public <X> void run(int a,
      String b) throws E { new Runnable() { public void run() {} }; }
  A() {}
  enum E { X, Y; void q() {} }
  record R(int a) { R { } }
  @interface An { int value() default 1; }
  interface I { void z(); }
}
