// A query of the MongoDB door: a filter with projection, sort and limit, or a pipeline.
import { useId } from 'react';
import type { MongoText } from '../../pure/completion/mongo';
import { useDraft } from '../../state/draft';
import type { Target } from '../../state/place';
import { CodeEditor } from '../../ui/CodeEditor';
import { Field } from '../../ui/Field';
import { LABELS, type MongoForm } from './command';
import { startMongo } from './mongoRun';
import { QUERY_BOUND } from './problem';
import { Workbench } from './Workbench';

const FIRST: MongoForm = {
  mode: 'filter',
  filter: '{}',
  projection: '',
  sort: '',
  limit: '',
  pipeline: '[\n  { $match: {} }\n]',
};

/** Every field is a draft of its own, so that typing in one writes no other. */
function useForm(target: Target) {
  const base = `query:mongo/${target.database}/${target.collection}:`;
  const [mode, setMode] = useDraft(`${base}mode`);
  const [filter, setFilter] = useDraft(`${base}filter`);
  const [projection, setProjection] = useDraft(`${base}projection`);
  const [sort, setSort] = useDraft(`${base}sort`);
  const [limit, setLimit] = useDraft(`${base}limit`);
  const [pipeline, setPipeline] = useDraft(`${base}pipeline`);
  const form: MongoForm = {
    mode: mode === 'pipeline' ? 'pipeline' : 'filter',
    filter: filter ?? FIRST.filter,
    projection: projection ?? '',
    sort: sort ?? '',
    limit: limit ?? '',
    pipeline: pipeline ?? FIRST.pipeline,
  };
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
  execute: () => void;
}

/** Completion and marks for a text of the form. */
function helpFor(target: Target, kind: MongoText) {
  return async () => (await import('./completion/editors')).shellHelp(target, kind);
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

function Line({ name, target, form, set, execute }: PartProps & { name: 'projection' | 'sort' }) {
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
        onRun={execute}
        load={helpFor(target, name)}
        single
      />
    </div>
  );
}

function FilterFields(props: PartProps) {
  const { target, form, set, execute } = props;
  return (
    <>
      <div className="query-editor small">
        <CodeEditor
          label={LABELS.filter}
          value={form.filter}
          onChange={set.filter}
          language="shell"
          bound={QUERY_BOUND}
          onRun={execute}
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

export function MongoQuery({ target }: { target: Target }) {
  const { form, set } = useForm(target);
  const take = (texts: Record<string, string>) => {
    for (const name of Object.keys(FIRST) as (keyof MongoForm)[])
      set[name](texts[name] ?? FIRST[name]);
  };
  return (
    <Workbench
      target={target}
      start={() => startMongo(target, form)}
      texts={{ ...form }}
      onTake={take}
      errorText=""
    >
      {(execute) => (
        <>
          <Mode form={form} set={set} />
          {form.mode === 'filter' ? (
            <FilterFields target={target} form={form} set={set} execute={execute} />
          ) : (
            <div className="query-editor">
              <CodeEditor
                key="pipeline"
                label={LABELS.pipeline}
                value={form.pipeline}
                onChange={set.pipeline}
                language="shell"
                bound={QUERY_BOUND}
                onRun={execute}
                load={helpFor(target, 'pipeline')}
              />
            </div>
          )}
        </>
      )}
    </Workbench>
  );
}
