//! crate doc
use std::collections::HashMap;
use std::{fmt, io::{self, Read as R}};
use super::*;
extern crate serde;
pub mod inner {
    pub fn nested() {}
}
mod other;

/// A server
#[derive(Debug)]
// c
#[serde(x)]
pub struct Server<T> where T: Clone {
    a: T,
}
pub struct Unit;
struct Tup(i32);

pub enum E { A, B(i32) }
union U { a: u8 }
pub trait Run {
    fn run(&self);
    fn def(&self) -> i32 { 1 }
}
impl<T> Server<T> {
    #[inline]
    pub async fn start(
        &mut self,
        n: usize, // count
    ) -> Result<(), String> {
        fn local() {}
        println!("x {}", 'c');
        Ok(())
    }
}
impl<T> Run for Server<T> { fn run(&self) { let r = r#"raw"#; } }
impl fmt::Display for E { fn fmt(&self) {} }
type Alias = HashMap<String, i32>;
macro_rules! twice { ($x:expr) => { $x } }
const X: &str = "s";
/* block */
extern "C" { fn ffi(a: i32); }
