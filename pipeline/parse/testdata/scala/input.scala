package a.b

import scala.collection.mutable
import java.util.{List, Map => JMap}
import x.y._

@ann("x")
case class User(name: String) extends Base with T {
  def run(a: Int,
    b: String): Int = {
    def local = 1
    s"x ${a + "q"} y $b"
  }
  val f = (x: Int) => x
  type Id = Int
}
object User { def apply(): User = new User("a") }
trait Shape { def area: Double }
sealed abstract class Base
enum Color { case Red, Green }
given ord: Ordering[Int] with { def compare(a: Int, b: Int) = 0 }
extension (s: String) def shout: String = s
package object util { def helper = 1 }
/* block */
def top(x: Int): Int = x // line
