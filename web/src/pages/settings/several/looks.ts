// Previews and outcomes of setting another default in several collections. Pure.
import type { CollectionFacts, DefaultTtl, Preview } from '../../../api/admin';
import { count, counted } from '../../../pure/figures/amount';
import { mustAskAgain, type Nouns } from '../ttl/impact';

/** Preview of one collection. */
export type Look = { facts: CollectionFacts; preview: Preview } | { failure: string };
export type Looks = ReadonlyMap<string, Look>;

export type Result = { kind: 'set' | 'same' } | { kind: 'failed'; text: string };

const known = (looks: Looks) =>
  [...looks.values()].filter((look): look is Exclude<Look, { failure: string }> => 'facts' in look);

/** Returns the total number of documents that expire immediately. */
export function dyingOf(looks: Looks): number {
  return known(looks).reduce((sum, { preview }) => sum + preview.dies_now.documents, 0);
}

/** "12 of 40 documents in 2 of 3 collections are already older than this and will expire immediately." */
export function dyingWords(looks: Looks, value: DefaultTtl, nouns: Nouns): string {
  const all = known(looks);
  const places = all.filter(({ preview }) => preview.dies_now.documents > 0).length;
  const about = all.every(({ preview }) => preview.exact) ? '' : 'about ';
  if (places === 0)
    return `Nothing expires immediately.${about === '' ? '' : ' (This is an estimate.)'}`;
  const dying = dyingOf(looks);
  const live = all.reduce((sum, { facts }) => sum + facts.live.documents, 0);
  const among =
    live < dying ? counted(dying, nouns.one) : `${count(dying)} of ${counted(live, nouns.one)}`;
  const [are, have] = dying === 1 ? ['is', 'has'] : ['are', 'have'];
  const why = value === -1 ? `${have} a “ttl” that has elapsed` : `${are} already older than this`;
  const where = `in ${count(places)} of ${counted(looks.size, nouns.place)}`;
  const said = `${about}${among} ${where} ${why} and will expire immediately.`;
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** Returns whether the previews differ from the confirmed ones. */
export function haveMoved(agreed: Looks, now: Looks, runs: boolean): boolean {
  return [...now].some(([name, look]) => {
    const before = agreed.get(name);
    if (before === undefined || 'failure' in before || 'failure' in look) return false;
    return mustAskAgain(before.preview, look.preview, runs);
  });
}

export function resultWords(results: ReadonlyMap<string, Result>, nouns: Nouns): string {
  const failed = [...results.values()].filter(({ kind }) => kind === 'failed').length;
  const good = results.size - failed;
  const has = good === 1 ? 'has' : 'have';
  const said = `${counted(good, nouns.place)} ${has} the new default`;
  return failed === 0 ? `${said}.` : `${said}, ${count(failed)} failed.`;
}
