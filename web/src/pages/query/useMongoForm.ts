// The texts of the MongoDB form, each a draft that survives a reload.
import { useDraft } from '../../state/draft';
import type { Target } from '../../state/place';
import { EMPTY, type MongoForm } from './command';
import type { Texts } from './tabs/address';
import { draftName } from './tabs/drafts';

export interface MongoForms {
  form: MongoForm;
  set: Record<keyof MongoForm, (text: string) => void>;
  put: (form: MongoForm) => void;
}

export function formOf(texts: Texts): MongoForm {
  return { ...EMPTY, ...texts, mode: texts.mode === 'pipeline' ? 'pipeline' : 'filter' };
}

/** Every field is a separate draft, so that typing writes only one. */
export function useMongoForm(target: Target, id: string): MongoForms {
  const name = (field: keyof MongoForm) => draftName(target, id, field);
  const [mode, setMode] = useDraft(name('mode'));
  const [filter, setFilter] = useDraft(name('filter'));
  const [projection, setProjection] = useDraft(name('projection'));
  const [sort, setSort] = useDraft(name('sort'));
  const [limit, setLimit] = useDraft(name('limit'));
  const [skip, setSkip] = useDraft(name('skip'));
  const [pipeline, setPipeline] = useDraft(name('pipeline'));
  const form = formOf({
    mode: mode ?? EMPTY.mode,
    filter: filter ?? EMPTY.filter,
    projection: projection ?? '',
    sort: sort ?? '',
    limit: limit ?? '',
    skip: skip ?? '',
    pipeline: pipeline ?? EMPTY.pipeline,
  });
  const set: MongoForms['set'] = {
    mode: setMode,
    filter: setFilter,
    projection: setProjection,
    sort: setSort,
    limit: setLimit,
    skip: setSkip,
    pipeline: setPipeline,
  };
  const put = (next: MongoForm) => {
    for (const field of Object.keys(set) as (keyof MongoForm)[]) set[field](next[field]);
  };
  return { form, set, put };
}
