// What an editor is given; the editor comes apart from the component that shows it.
import type { Extension } from '@codemirror/state';
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
  /** What is underlined; another list takes the place of this one. */
  marks?: readonly Mark[];
  /** More of CodeMirror: linters, completions. Read when the editor is made. */
  extensions?: Extension;
  /** The same, of a part that is loaded with the editor. */
  load?: () => Promise<Extension>;
}

/** What the editor itself is given. */
export interface EditorProps extends CodeEditorProps {
  /** A change was refused that would have added so many characters. */
  onRefused?: (characters: number) => void;
}

/** How a keyboard leaves an editor in which Tab is a character of the text. */
export const WAY_OUT = 'Escape, then Tab leaves the editor.';

export function catchesTab({ single, readOnly }: CodeEditorProps): boolean {
  return single !== true && readOnly !== true;
}
