// Height of the end of a scroll container that notices cover; as padding, it lets the user scroll
// the end above them.
import { type RefObject, useLayoutEffect, useState } from 'react';
import { useStore } from '../state/store';
import { toastsTop } from '../state/toasts';

/** Space between the end and the first notice, px; larger than the padding around a box. */
const GAP = 12;

/** Returns the padding in px; a container that is scrolled to its end stays there. */
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
