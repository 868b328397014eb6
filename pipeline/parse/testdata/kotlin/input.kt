package a.b

import kotlin.math.max
import java.util.*
import a.b.C as D

@Ann("x")
// c
data class User<T>(val name: String, val age: Int = 3) : Base(), I {
    constructor(a: Int) : this("a", a)
    init { println("x") }
    val full: String get() = "$name and ${name + "x"}"
    @Test
    override suspend fun run(a: Int,
        b: String): Int {
        fun local() {}
        return 1
    }
    companion object {
        fun create(): User = User("a")
    }
    inner class In { fun deep() = 1 }
}

interface Shape { fun area(): Double }
enum class Color(val n: Int) { RED(1), GREEN(2); fun f() {} }
fun interface Action { fun act() }
public fun interface Other<T> { fun act() }
object Single { fun go() {} }
sealed class Result
annotation class Ann(val v: String)
typealias Handler = (String) -> Unit
fun String.shout(): String = uppercase()
fun <T> List<T>.second(): T { return this[1] }
private inline fun <reified T> top(x: T): T = x
val lam = { x: Int -> x + 1 }
val raw = """raw ${1} text"""
