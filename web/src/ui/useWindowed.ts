// Which rows of a long list are in sight, for rows of one height. The caller draws them inside a
// spacer of the whole height. Browsers draw no element higher than some 16 million pixels, so beyond
// that the list's scroll is scaled.
import { type RefObject, useCallback, useEffect, useState } from 'react';

export interface Windowed {
  first: number;
  /** Behind the last. */
  end: number;
  /** Of the spacer, px. */
  height: number;
  /** Where the first row stands, px from the spacer's top. */
  offset: number;
  scrollTo: (index: number) => void;
}

const TALLEST = 10_000_000;
const OVERSCAN = 8;

export function useWindowed(
  element: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
  /** Height of what sticks at the top of the box, above the spacer. */
  above = 0,
  /** The same at its bottom, over the rows. */
  below = 0,
): Windowed {
  const [view, setView] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const box = element.current;
    if (box === null) return;
    const measure = () => setView({ top: box.scrollTop, height: box.clientHeight });
    measure();
    box.addEventListener('scroll', measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => {
      box.removeEventListener('scroll', measure);
      observer.disconnect();
    };
  }, [element]);
  const whole = count * rowHeight;
  const height = Math.min(whole, TALLEST);
  const scale = height > view.height ? (whole - view.height) / (height - view.height) : 1;
  const top = view.top * Math.max(1, scale);
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - OVERSCAN));
  const end = Math.min(count, Math.ceil((top + view.height) / rowHeight) + OVERSCAN);
  const scrollTo = useCallback(
    (index: number) => {
      const box = element.current;
      if (box === null) return;
      const [top, bottom] = [index * rowHeight, (index + 1) * rowHeight];
      const shownTop = box.scrollTop * Math.max(1, scale);
      const shown = box.clientHeight - above - below;
      if (top < shownTop) box.scrollTop = top / Math.max(1, scale);
      else if (bottom > shownTop + shown) box.scrollTop = (bottom - shown) / Math.max(1, scale);
    },
    [element, rowHeight, scale, above, below],
  );
  return { first, end, height, offset: view.top - (top - first * rowHeight), scrollTo };
}
