// Keys styled as keycaps.
import { keysOf } from './spelling';
import './keys.css';

export function Keys({ written }: { written: string }) {
  return (
    <span className="keys">
      {keysOf(written).map((key, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a key may occur twice.
        <kbd key={at}>{key}</kbd>
      ))}
    </span>
  );
}
