defmodule Shop.Cart do
  @moduledoc "A cart"
  use GenServer
  import Ecto.Query, only: [from: 2]
  alias Shop.{Item, Order}
  alias Shop.User, as: U
  require Logger

  defstruct [:a]

  # Adds
  @doc """
  adds #{1}
  """
  @spec add(t, t) :: t
  def add(cart, item) when is_list(cart) do
    "x #{item.name} y"
  end

  def add(cart, item, n), do: cart
  defp total(%{a: a}), do: a
  def empty?, do: true
  defmacro twice(x) do
    x
  end
  defguard is_even(n) when rem(n, 2) == 0

  defmodule Inner do
    def run, do: :ok
  end
end

defprotocol Size do
  def size(data)
end

defimpl Size, for: Map do
  def size(m), do: map_size(m)
end
