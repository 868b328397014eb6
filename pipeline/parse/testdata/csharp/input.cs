using System;
using System.Collections.Generic;
using static System.Math;
using Alias = System.Text.StringBuilder;

namespace Shop.Orders
{
    [Serializable]
    // why
    [Obsolete("x")]
    public class Order<T> : Base, IOrder
    {
        private int count;
        public int Total { get; set; }
        public Order(int a) : base(a) { }
        ~Order() { }
        public static Order<T> operator +(Order<T> a, Order<T> b) => a;
        public static implicit operator int(Order<T> o) { return 1; }
        public int this[int i] { get { return i; } }
        [HttpGet("{id}")]
        public async Task<int> RunAsync(int a,
            string b = "q")
        {
            int Local(int x) => x;
            return $"a{b + "z"}c";
        }
        void IOrder.Explicit() { }
        public record Line(int A);
        public delegate void Changed(object sender);
    }
    public struct Money { }
    public interface IOrder { void Explicit(); }
    public enum State { New, Done }
}
