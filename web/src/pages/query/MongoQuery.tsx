// A query of the MongoDB API: a filter with projection, sort and limit, or a pipeline.
import { useId } from 'react';
import type { MongoText } from '../../pure/completion/mongo';
import { isCall } from '../../pure/shell/call';
import { toast } from '../../state/log';
import type { Target } from '../../state/place';
import { CodeEditor, type Part } from '../../ui/CodeEditor';
import { Field } from '../../ui/Field';
import { LABELS, type MongoForm } from './command';
import { inMode, pipelineOfFind } from './modes';
import { startMongo } from './mongoRun';
import { type QueryFormProps, startIn } from './NosqlQuery';
import { QUERY_BOUND } from './problem';
import { ShellNotice } from './ShellNotice';
import { StagesPanel } from './stages/StagesPanel';
import { formOf, type MongoForms, useMongoForm } from './useMongoForm';
import { asked, useShellLine } from './useShellLine';
import { type FormTools, Workbench } from './Workbench';

/** Returns the form with the selection as main field; brackets around stages are added. */
function partOf(form: MongoForm, { text }: Part): MongoForm {
  if (form.mode === 'filter') return { ...form, filter: text };
  if (isCall(text)) return { ...form, pipeline: text };
  const stages = text.trim().replace(/,$/, '');
  return { ...form, pipeline: stages.startsWith('[') ? stages : `[${stages}]` };
}

const START = { from: 0, to: 0 };

interface PartProps {
  target: Target;
  form: MongoForm;
  set: MongoForms['set'];
  tools: FormTools;
}

/** Returns the loader of completion and error marks for a text of the form. */
function helpFor(target: Target, kind: MongoText) {
  return async () => (await import('../../ui/completion/editors')).shellHelp(target, kind);
}

function Mode({ form, put }: Pick<MongoForms, 'form' | 'put'>) {
  const name = useId();
  const choose = (mode: MongoForm['mode']) => {
    const next = inMode(form, mode);
    put(next.form);
    if (!next.kept) return;
    const taken = { ...next.form, pipeline: pipelineOfFind(form) };
    toast({
      text: 'The pipeline already has stages and was not changed.',
      action: { label: 'Use the filter instead', seconds: 10, onChoose: () => put(taken) },
    });
  };
  return (
    <fieldset className="row query-mode">
      <legend className="visually-hidden">Kind of query</legend>
      {(['filter', 'pipeline'] as const).map((mode) => (
        <label key={mode} className="query-choice">
          <input
            type="radio"
            name={name}
            checked={form.mode === mode}
            onChange={() => choose(mode)}
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

function Whole({ form, set, name }: Pick<PartProps, 'form' | 'set'> & { name: 'limit' | 'skip' }) {
  return (
    <Field label={LABELS[name]}>
      {(field) => (
        <input
          {...field}
          inputMode="numeric"
          autoComplete="off"
          size={8}
          value={form[name]}
          onChange={(event) => set[name](event.target.value)}
        />
      )}
    </Field>
  );
}

function FilterFields({
  start,
  ...props
}: PartProps & { start: { from: number; to: number } | null }) {
  const { target, form, set, tools } = props;
  return (
    <>
      <div className="query-editor small">
        <CodeEditor
          label={LABELS.filter}
          value={form.filter}
          onChange={set.filter}
          start={start}
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
        <Whole form={form} set={set} name="limit" />
        <Whole form={form} set={set} name="skip" />
      </div>
    </>
  );
}

export function MongoQuery({ target, id, bench }: QueryFormProps) {
  const { form, set, put } = useMongoForm(target, id);
  const line = useShellLine(target, form, { set, put });
  const startOf = (box: 'filter' | 'pipeline') => {
    if (line.landing === box) return START;
    return bench.isNew && form.mode === box ? startIn(form[box]) : null;
  };
  const stages = (runUpTo: (text: string) => void) => (
    <StagesPanel
      target={target}
      pipeline={form.pipeline}
      onChange={line.set.pipeline}
      onRunUpTo={runUpTo}
    />
  );
  return (
    <Workbench
      target={target}
      bench={bench}
      texts={{ ...form }}
      partial={(part) => ({ ...partOf(form, part) })}
      prepare={line.prepare}
      start={(texts) => startMongo(target, asked(target, formOf(texts)))}
      onTake={(texts) => put(formOf(texts))}
      errorText={() => ''}
      {...(form.mode === 'filter' ? {} : { stages })}
    >
      {(tools) => (
        <>
          <Mode form={form} put={line.put} />
          {form.mode === 'filter' ? (
            <FilterFields
              target={target}
              form={form}
              set={line.set}
              tools={tools}
              start={startOf('filter')}
            />
          ) : (
            <div className="query-editor">
              <CodeEditor
                key="pipeline"
                label={LABELS.pipeline}
                value={form.pipeline}
                onChange={line.set.pipeline}
                start={startOf('pipeline')}
                language="shell"
                bound={QUERY_BOUND}
                onRun={tools.execute}
                onRunPart={tools.executePart}
                onSelect={tools.onSelect}
                load={helpFor(target, 'pipeline')}
              />
            </div>
          )}
          <ShellNotice target={target} line={line} />
        </>
      )}
    </Workbench>
  );
}
