require 'json'
require_relative "lib/util"
# comment
=begin
block
=end
module Shop
  class Order < Base
    include Comparable
    attr_reader :a
    def initialize(a, b = 1)
      @a = "x #{b + 'q'} y"
    end

    def self.create(*args) = new(*args)

    class << self
      def build(x)
        x
      end
    end

    private def secret; end
    def total?
      <<~SQL
        select #{a}
      SQL
    end
    def +(other); end
    def name=(v); end
  end
  class Shop::Item; end
  Point = Struct.new(:x) do
    def dist; end
  end
  handler = ->(x) { x }
end
def top_level
end
