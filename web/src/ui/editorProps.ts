// What an editor is given; the editor comes apart from the component that shows it.
import type { Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import type { Bound } from './editorBound';

export type Language = 'json' | 'sql' | 'shell';

/** A part of the text. */
export interface Part {
  text: string;
  from: number;
}

/** A place of the text and what is wrong there. */
export interface Mark {
  from: number;
  to: number;
  message: string;
}

export interface CodeEditorProps {
  /** Name for screen readers. */
  label: string;
  value: string;
  onChange?: (text: string) => void;
  language: Language;
  readOnly?: boolean;
  /** Longer texts are refused, and it is said why. */
  bound?: Bound;
  /** Hears that a change was refused which would have added so many characters, and says so in the place
   * of the editor. */
  onRefused?: (characters: number) => void;
  /** Ctrl+Enter, or Cmd+Enter. */
  onRun?: () => void;
  /** What is selected; null: nothing. */
  onSelect?: (part: Part | null) => void;
  /** Ctrl+Shift+Enter, where something is selected. */
  onRunPart?: (part: Part) => void;
  /** Ctrl+S, or Cmd+S, does the same. */
  saves?: boolean;
  /** What is selected when the editor comes, which then takes the focus, unless that has gone on
   * meanwhile; null: nothing, and the focus stays. */
  start?: { from: number; to: number } | null;
  /** One line that grows: a filter box. Enter runs. */
  single?: boolean;
  /** What is shown as long as the text is empty. */
  placeholder?: string;
  /** What screen readers say of it, beside its name. */
  description?: string;
  /** What is said of it is that it is wrong. */
  isWrong?: boolean;
  /** The editor is there now: made, and not hidden by itself. */
  onHere?: (view: EditorView) => void;
  /** What is underlined; another list takes the place of this one. */
  marks?: readonly Mark[];
  /** More of CodeMirror: linters, completions. Read when the editor is made. */
  extensions?: Extension;
  /** The same, of a part that is loaded with the editor. */
  load?: () => Promise<Extension>;
}

/** How a keyboard leaves an editor in which Tab is a character of the text. */
export const WAY_OUT = 'Escape, then Tab leaves the editor.';

export function catchesTab({ single, readOnly }: CodeEditorProps): boolean {
  return single !== true && readOnly !== true;
}
