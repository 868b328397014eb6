import Foundation
import struct UIKit.UIView

@objc
// c
public class User<T>: NSObject, P {
    var name: String = "a \(x + "q") b"
    init(name: String) { self.name = name }
    deinit { }
    @discardableResult
    func run<U>(a: Int,
        b: U) async throws -> Int where U: Eq {
        func local() {}
        return 1
    }
    static func == (a: User, b: User) -> Bool { true }
    subscript(i: Int) -> Int { i }
}
struct Box<T> { init(_ t: T) {} ; func get() -> T { t } }
enum Dir: String { case up, down; func flip() {} }
protocol P { func need(); init(a: Int) }
extension User { func more() {} }
extension Array where Element == Int { func sum() -> Int { 0 } }
actor Acc { func dep() {} }
typealias H = (Int) -> Void
func top(x: Int) -> Int { x }
let s = """
multi \(1)
"""
