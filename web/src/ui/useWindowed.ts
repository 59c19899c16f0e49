// Virtual scrolling of a long list with rows of one height. The caller renders the visible rows
// inside a spacer of the full height. Browsers limit elements to some 16 million pixels, so the
// scroll position of longer lists is scaled.
import { type RefObject, useCallback, useEffect, useState } from 'react';

export interface Windowed {
  first: number;
  /** Index after the last row. */
  end: number;
  /** Of the spacer, px. */
  height: number;
  /** Top of the first row, px from the spacer's top. */
  offset: number;
  scrollTo: (index: number) => void;
}

const TALLEST = 10_000_000;
const OVERSCAN = 8;

export function useWindowed(
  element: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
  /** Height of the sticky header above the spacer. */
  above = 0,
  /** Height of the sticky footer over the rows. */
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
