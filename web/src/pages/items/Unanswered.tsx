// Progress of a request about the open item, with a way to cancel it; without a response, the known
// state of the item and the actions once the server is back.
import { useLayoutEffect } from 'react';
import { server } from '../../state/server';
import { useSelected } from '../../state/store';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { isAdrift } from '../../ui/focusKeeper';
import { useLasting } from '../../ui/useLasting';
import { isBack, lostWords } from './lost';
import type { Item } from './useItem';

/** Faster responses need no message. */
const NOTICED_MS = 700;

/** These buttons disappear when pressed, so the focus moves. */
const toSave = () => document.querySelector<HTMLElement>('.items-commands .primary')?.focus();

export function Unanswered({ item }: { item: Item }) {
  const { busy, lost } = item;
  const isLong = useLasting(busy, NOTICED_MS);
  const back = useSelected(server, (state) => lost !== null && isBack(lost, state));
  useLayoutEffect(() => {
    if (!busy && lost?.stopped === true && isAdrift()) toSave();
  }, [busy, lost]);
  if (isLong) {
    return (
      <Banner look="warn">
        <span>The server has not responded yet. Retrying; your text is kept.</span>
        <Button onClick={item.stop}>Stop</Button>
      </Banner>
    );
  }
  if (lost === null || busy) return null;
  return (
    <Banner look={back ? 'warn' : 'bad'}>
      <span>{lostWords(lost, back)}</span>
      {back && lost.asked === 'save' && item.theirs === null && (
        <Button
          onClick={() => {
            toSave();
            item.save();
          }}
        >
          Save again
        </Button>
      )}
    </Banner>
  );
}
