// How much of the end of what scrolls lies under the notices in the corner, so that there is room to scroll
// its end out from under them.
import { type RefObject, useLayoutEffect, useState } from 'react';
import { useStore } from '../state/store';
import { toastsTop } from '../state/toasts';

/** Between the end and the first notice, px, more than what a box may stand in has around it. */
const GAP = 12;

/** px at the end of the box; what was scrolled to its end stays there. */
export function useToastRoom(box: RefObject<HTMLElement | null>): number {
  const top = useStore(toastsTop);
  const [room, setRoom] = useState(0);
  useLayoutEffect(() => {
    const bottom = box.current?.getBoundingClientRect().bottom ?? 0;
    const seen = Math.min(bottom, window.innerHeight);
    setRoom(top === null ? 0 : Math.max(0, Math.ceil(seen - top + GAP)));
  }, [box, top]);
  useLayoutEffect(() => {
    const one = box.current;
    if (one === null || room === 0 || one.scrollTop === 0) return;
    const left = one.scrollHeight - one.clientHeight - one.scrollTop;
    if (left <= room + 1) one.scrollTop = one.scrollHeight;
  }, [box, room]);
  return room;
}
