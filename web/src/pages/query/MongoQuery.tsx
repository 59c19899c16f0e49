// A query of the MongoDB API: a filter with projection, sort and limit, or a pipeline.
import { useId } from 'react';
import type { MongoText } from '../../pure/completion/mongo';
import { useDraft } from '../../state/draft';
import type { Target } from '../../state/place';
import { CodeEditor, type Part } from '../../ui/CodeEditor';
import { Field } from '../../ui/Field';
import { LABELS, type MongoForm } from './command';
import { startMongo } from './mongoRun';
import type { QueryFormProps } from './NosqlQuery';
import { QUERY_BOUND } from './problem';
import { FIRST, type Texts } from './tabs/address';
import { draftName } from './tabs/drafts';
import { type FormTools, Workbench } from './Workbench';

const FORM = { mode: 'filter', ...FIRST.mongo } as MongoForm;

function formOf(texts: Texts): MongoForm {
  return { ...FORM, ...texts, mode: texts.mode === 'pipeline' ? 'pipeline' : 'filter' };
}

/** The form with a part of its main field; stages of a pipeline may stand without their brackets. */
function partOf(form: MongoForm, { text }: Part): MongoForm {
  if (form.mode === 'filter') return { ...form, filter: text };
  const stages = text.trim().replace(/,$/, '');
  return { ...form, pipeline: stages.startsWith('[') ? stages : `[${stages}]` };
}

/** Every field is a draft of its own, so that typing in one writes no other. */
function useForm(target: Target, id: string) {
  const name = (field: keyof MongoForm) => draftName(target, id, field);
  const [mode, setMode] = useDraft(name('mode'));
  const [filter, setFilter] = useDraft(name('filter'));
  const [projection, setProjection] = useDraft(name('projection'));
  const [sort, setSort] = useDraft(name('sort'));
  const [limit, setLimit] = useDraft(name('limit'));
  const [pipeline, setPipeline] = useDraft(name('pipeline'));
  const form = formOf({
    mode: mode ?? FORM.mode,
    filter: filter ?? FORM.filter,
    projection: projection ?? '',
    sort: sort ?? '',
    limit: limit ?? '',
    pipeline: pipeline ?? FORM.pipeline,
  });
  const set: Record<keyof MongoForm, (text: string) => void> = {
    mode: setMode,
    filter: setFilter,
    projection: setProjection,
    sort: setSort,
    limit: setLimit,
    pipeline: setPipeline,
  };
  return { form, set };
}

interface PartProps {
  target: Target;
  form: MongoForm;
  set: Record<keyof MongoForm, (text: string) => void>;
  tools: FormTools;
}

/** Completion and marks for a text of the form. */
function helpFor(target: Target, kind: MongoText) {
  return async () => (await import('../../ui/completion/editors')).shellHelp(target, kind);
}

function Mode({ form, set }: Pick<PartProps, 'form' | 'set'>) {
  const name = useId();
  return (
    <fieldset className="row query-mode">
      <legend className="visually-hidden">Kind of query</legend>
      {(['filter', 'pipeline'] as const).map((mode) => (
        <label key={mode} className="query-choice">
          <input
            type="radio"
            name={name}
            checked={form.mode === mode}
            onChange={() => set.mode(mode)}
          />
          {LABELS[mode]}
        </label>
      ))}
    </fieldset>
  );
}

function Line({ name, target, form, set, tools }: PartProps & { name: 'projection' | 'sort' }) {
  return (
    <div className="query-line">
      <span className="query-name" aria-hidden="true">
        {LABELS[name]}
      </span>
      <CodeEditor
        label={LABELS[name]}
        value={form[name]}
        onChange={set[name]}
        language="shell"
        bound={QUERY_BOUND}
        onRun={tools.execute}
        load={helpFor(target, name)}
        single
      />
    </div>
  );
}

function FilterFields(props: PartProps) {
  const { target, form, set, tools } = props;
  return (
    <>
      <div className="query-editor small">
        <CodeEditor
          label={LABELS.filter}
          value={form.filter}
          onChange={set.filter}
          language="shell"
          bound={QUERY_BOUND}
          onRun={tools.execute}
          onRunPart={tools.executePart}
          onSelect={tools.onSelect}
          load={helpFor(target, 'filter')}
        />
      </div>
      <div className="query-options">
        <Line {...props} name="projection" />
        <Line {...props} name="sort" />
        <Field label={LABELS.limit}>
          {(field) => (
            <input
              {...field}
              inputMode="numeric"
              autoComplete="off"
              size={8}
              value={form.limit}
              onChange={(event) => set.limit(event.target.value)}
            />
          )}
        </Field>
      </div>
    </>
  );
}

export function MongoQuery({ target, id, bench }: QueryFormProps) {
  const { form, set } = useForm(target, id);
  const take = (texts: Texts) => {
    const taken = formOf(texts);
    for (const name of Object.keys(FORM) as (keyof MongoForm)[]) set[name](taken[name]);
  };
  return (
    <Workbench
      target={target}
      bench={bench}
      texts={{ ...form }}
      partial={(part) => ({ ...partOf(form, part) })}
      start={(texts) => startMongo(target, formOf(texts))}
      onTake={take}
      errorText={() => ''}
    >
      {(tools) => (
        <>
          <Mode form={form} set={set} />
          {form.mode === 'filter' ? (
            <FilterFields target={target} form={form} set={set} tools={tools} />
          ) : (
            <div className="query-editor">
              <CodeEditor
                key="pipeline"
                label={LABELS.pipeline}
                value={form.pipeline}
                onChange={set.pipeline}
                language="shell"
                bound={QUERY_BOUND}
                onRun={tools.execute}
                onRunPart={tools.executePart}
                onSelect={tools.onSelect}
                load={helpFor(target, 'pipeline')}
              />
            </div>
          )}
        </>
      )}
    </Workbench>
  );
}
