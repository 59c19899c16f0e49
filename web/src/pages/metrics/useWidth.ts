// The width of an element, for charts that fill it.
import { useEffect, useRef, useState } from 'react';

export function useWidth() {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const box = element.current;
    if (box === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, box.clientWidth)));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return { element, width };
}
