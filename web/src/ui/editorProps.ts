// Properties of an editor, separate from its code so that components can use them before it loads.
import type { Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import type { Bound } from './editorBound';

export type Language = 'json' | 'sql' | 'shell';

/** A range of the text. */
export interface Part {
  text: string;
  from: number;
}

/** A range of the text and its error. */
export interface Mark {
  from: number;
  to: number;
  message: string;
}

export interface CodeEditorProps {
  /** Accessible name. */
  label: string;
  value: string;
  onChange?: (text: string) => void;
  language: Language;
  readOnly?: boolean;
  /** Limit of the length; longer texts are refused with a message. */
  bound?: Bound;
  /** Called with the length of a refused change; replaces the editor's own message. */
  onRefused?: (characters: number) => void;
  /** Ctrl+Enter, or Cmd+Enter. */
  onRun?: () => void;
  /** Called with the selection; null: empty. */
  onSelect?: (part: Part | null) => void;
  /** Ctrl+Shift+Enter with a selection. */
  onRunPart?: (part: Part) => void;
  /** Ctrl+S, or Cmd+S, runs too. */
  saves?: boolean;
  /**
   * Initial selection; the editor takes the focus when it has loaded unless the focus has moved
   * since. null: no selection, no focus.
   */
  start?: { from: number; to: number } | null;
  /** A single line that grows, for filters. Enter runs. */
  single?: boolean;
  /** Shown while the text is empty. */
  placeholder?: string;
  description?: string;
  /** Whether the description is an error. */
  isWrong?: boolean;
  /** Called when the editor has been created and is visible. */
  onHere?: (view: EditorView) => void;
  /** Underlined ranges; a new list replaces the old one. */
  marks?: readonly Mark[];
  /** More CodeMirror extensions: linters, completions. Read once, at creation. */
  extensions?: Extension;
  /** As `extensions`, from a chunk that is loaded with the editor. */
  load?: () => Promise<Extension>;
}

/** How to leave an editor that takes Tab as a character. */
export const WAY_OUT = 'Escape, then Tab leaves the editor.';

export function catchesTab({ single, readOnly }: CodeEditorProps): boolean {
  return single !== true && readOnly !== true;
}
