// CodeMirror in a shadow root, so that its styles are constructed sheets and the content security
// policy can forbid inline styles. Independent of languages.
import type { EditorView } from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { words } from '../api/http';
import { bytes } from '../pure/figures/amount';
import { arrival, early } from '../state/arrival';
import { server } from '../state/server';
import { useSelected } from '../state/store';
import { AbsentEditor } from './AbsentEditor';
import { type CodeEditorProps, catchesTab, WAY_OUT } from './editorProps';
import { isLanded } from './focusKeeper';

export type { Mark, Part } from './editorProps';

const loadEditor = early(() => import('./editor'));

/** Load state: whether the editor exists, and the error of the load. */
interface Coming {
  here: boolean;
  failure: string | null;
}

export function CodeEditor(props: CodeEditorProps) {
  const [refused, setRefused] = useState<string | null>(null);
  const [coming, setComing] = useState<Coming>({ here: false, failure: null });
  const [turn, setTurn] = useState(0);
  const isSilent = useSelected(server, ({ silentSince }) => silentSince !== null);
  const isAbsent = !coming.here && (isSilent || coming.failure !== null);
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  // Set with the view.
  const replace = useRef<(view: EditorView, text: string) => void>(() => {});
  const latest = useRef<CodeEditorProps>(props);
  const rendered = useRef(props);
  // Changes reported and not yet received back as `value`. During fast typing `value` lags behind
  // and must not overwrite newer text.
  const typed = useRef<string[]>([]);
  useLayoutEffect(() => {
    const onChange = (text: string) => {
      typed.current.push(text);
      setRefused(null);
      props.onChange?.(text);
    };
    const refuse = (characters: number) => {
      const why = props.bound?.why ?? '';
      setRefused(`The pasted text is ${bytes(characters)}. ${why}, so it was not inserted.`);
    };
    // Runs the latest text even if it is not rendered yet.
    const onRun = () => {
      const last = typed.current.at(-1);
      if (last !== undefined) flushSync(() => rendered.current.onChange?.(last));
      rendered.current.onRun?.();
    };
    rendered.current = props;
    const run = props.onRun === undefined ? undefined : onRun;
    latest.current = {
      ...props,
      onChange,
      onRefused: props.onRefused ?? refuse,
      ...(run === undefined ? {} : { onRun: run }),
    };
  });
  useEffect(() => {
    let ended = false;
    const focused = document.activeElement;
    const make = async () => {
      const load = () => Promise.all([loadEditor(), latest.current.load?.()]);
      const [{ makeEditor, replaceAll }, more] = await arrival(load);
      if (ended || host.current === null) return;
      view.current = makeEditor(host.current, latest, more);
      replace.current = replaceAll;
      // A hidden element cannot take the focus.
      flushSync(() => setComing({ here: true, failure: null }));
      const isLeft = document.activeElement !== focused && !isLanded();
      if (latest.current.start != null && !isLeft) view.current?.focus();
      if (view.current !== null) latest.current.onHere?.(view.current);
    };
    make().catch((error: unknown) => {
      if (!ended) setComing({ here: false, failure: words(error) });
    });
    return () => {
      ended = true;
      view.current?.destroy();
      view.current = null;
    };
  }, [turn]);
  useEffect(() => {
    const editor = view.current;
    const echo = typed.current.lastIndexOf(props.value);
    typed.current.splice(0, echo < 0 ? typed.current.length : echo + 1);
    if (echo >= 0) return;
    if (editor === null || editor.state.doc.toString() === props.value) return;
    replace.current(editor, props.value);
  }, [props.value]);
  const { isWrong, description } = props;
  // The editor reads its attributes again on an empty transaction.
  useEffect(() => view.current?.dispatch(), [isWrong, description]);
  const { marks } = props;
  const isHere = coming.here;
  useEffect(() => {
    if (marks === undefined || !isHere) return;
    void loadEditor().then(({ mark }) => {
      if (view.current !== null) mark(view.current, marks);
    });
  }, [marks, isHere]);
  return (
    <>
      {isAbsent && (
        <AbsentEditor
          label={props.label}
          failure={coming.failure}
          onAgain={() => {
            setComing({ here: false, failure: null });
            setTurn(turn + 1);
          }}
        />
      )}
      <div
        className={props.single === true ? 'editor single' : 'editor'}
        hidden={isAbsent}
        ref={host}
      />
      {catchesTab(props) && (
        <p className="editor-way" aria-hidden="true">
          {WAY_OUT}
        </p>
      )}
      {refused !== null && (
        <p className="error editor-refused" role="alert">
          {refused}
        </p>
      )}
    </>
  );
}
