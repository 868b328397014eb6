import * as React from "react";

type Props = { name: string };

export default function App({ name }: Props) {
  const onClick = () => console.log("clicked");
  return <div title="x" onClick={() => onClick()}>it's {`hi ${name}`}</div>;
}

export const Button = React.forwardRef<HTMLButtonElement, Props>((props, ref) => {
  return <button ref={ref} />;
});
const id = <T,>(x: T) => x;
