// CodeMirror in a shadow root, so that its styles are constructed sheets and the content security
// policy can forbid all inline ones. Knows no language but what it is given.
import { type Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';

export type Language = 'json' | 'sql' | 'shell';

export interface CodeEditorProps {
  /** Name for screen readers. */
  label: string;
  value: string;
  onChange?: (text: string) => void;
  language: Language;
  readOnly?: boolean;
  /** Ctrl+Enter, or Cmd+Enter. */
  onRun?: () => void;
  /** One line that grows: a filter box. Enter runs. */
  single?: boolean;
  /** More of CodeMirror: linters, completions. Read when the editor is made. */
  extensions?: Extension;
}

export function CodeEditor(props: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => {
    let ended = false;
    void import('./editor').then(({ makeEditor }) => {
      if (ended || host.current === null) return;
      view.current = makeEditor(host.current, latest);
    });
    return () => {
      ended = true;
      view.current?.destroy();
      view.current = null;
    };
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === props.value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: props.value } });
  }, [props.value]);
  return <div className={props.single === true ? 'editor single' : 'editor'} ref={host} />;
}
