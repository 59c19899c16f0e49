// Creates the editor of `CodeEditor`; loaded with the first one.
import {
  defaultKeymap,
  history,
  historyKeymap,
  indentWithTab,
  isolateHistory,
} from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  defaultHighlightStyle,
  foldGutter,
  foldKeymap,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, Prec } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightSpecialChars,
  type KeyBinding,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { bounded } from './editorBound';
import { INTO_BRACES } from './editorBraces';
import { type CodeEditorProps, catchesTab, type Mark, type Part, WAY_OUT } from './editorProps';
import { highlighting } from './highlighting';
import { shellLanguage, sqlLanguage } from './languages';

const THEME = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--ground)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '13px', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-placeholder': { color: 'var(--text-2)' },
  '.cm-gutters': {
    color: 'var(--text-2)',
    backgroundColor: 'var(--ground-2)',
    borderRightColor: 'var(--line)',
  },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-1px' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'var(--selected) !important',
  },
  '.cm-tooltip, .cm-panels': {
    color: 'var(--text)',
    backgroundColor: 'var(--ground-2)',
    border: '1px solid var(--line)',
  },
  '.cm-panel.cm-search': { fontSize: '13px', padding: '6px 28px 6px 8px' },
  '.cm-panel .cm-textfield': {
    font: 'inherit',
    color: 'var(--text)',
    backgroundColor: 'var(--ground)',
    border: '1px solid var(--edge)',
    borderRadius: '4px',
    padding: '3px 6px',
  },
  '.cm-panel .cm-button': {
    font: 'inherit',
    color: 'var(--text)',
    backgroundColor: 'var(--ground)',
    backgroundImage: 'none',
    border: '1px solid var(--edge)',
    borderRadius: '4px',
    padding: '3px 8px',
  },
  '.cm-panel.cm-search label': { fontSize: '13px' },
  '.cm-panel.cm-search [name=close]': { color: 'var(--text)', fontSize: '18px', right: '8px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px', lineHeight: '1.4' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--on-accent)',
    backgroundColor: 'var(--accent-ground)',
  },
  '.cm-completionMatchedText': { fontWeight: '600', textDecoration: 'none' },
  '.cm-completionDetail': { fontStyle: 'normal' },
});

function languageOf(props: CodeEditorProps): Extension {
  switch (props.language) {
    case 'json':
      return json();
    case 'sql':
      return sqlLanguage;
    case 'shell':
      return shellLanguage;
  }
}

/** Returns the selected text; null if the selection is empty. */
function partOf({ doc, selection: { main } }: EditorState): Part | null {
  return main.empty ? null : { text: doc.sliceString(main.from, main.to), from: main.from };
}

function runs(latest: { current: CodeEditorProps }): Extension {
  const run = () => {
    latest.current.onRun?.();
    return latest.current.onRun !== undefined;
  };
  const runPart = ({ state }: EditorView) => {
    const part = partOf(state);
    const { onRunPart } = latest.current;
    if (part === null || onRunPart === undefined) return run();
    onRunPart(part);
    return true;
  };
  const keys: KeyBinding[] = [
    { key: 'Mod-Enter', run },
    { key: 'Mod-Shift-Enter', run: runPart },
  ];
  if (latest.current.saves === true) keys.push({ key: 'Mod-s', run });
  // Lower precedence than an open completion list, which takes Enter.
  const single = latest.current.single === true ? [{ key: 'Enter', run }] : [];
  return [Prec.highest(keymap.of(keys)), Prec.high(keymap.of(single))];
}

/**
 * Handles typing over a selection. Browsers would give the new text the old one's look by inline
 * styles, which the content security policy forbids.
 */
const TYPE_OVER = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { state } = view;
    const isTyped = event.inputType === 'insertText' && event.data !== null && !view.composing;
    if (!isTyped || state.readOnly || state.selection.ranges.every(({ empty }) => empty))
      return false;
    const change = state.replaceSelection(event.data ?? '');
    view.dispatch(change, { userEvent: 'input.type', scrollIntoView: true });
    event.preventDefault();
    return true;
  },
});

function attributesOf(props: CodeEditorProps): Record<string, string> {
  const description = catchesTab(props) ? WAY_OUT : props.description;
  return {
    'aria-label': props.label,
    tabindex: '0',
    ...(description === undefined ? {} : { 'aria-description': description }),
    ...(props.isWrong === undefined ? {} : { 'aria-invalid': String(props.isWrong) }),
  };
}

/** Underlines ranges of the text, each with its message. */
export function mark({ state, dispatch }: EditorView, marks: readonly Mark[]): void {
  const within = (at: number) => Math.max(0, Math.min(at, state.doc.length));
  const diagnostics = marks.map(({ from, to, message }): Diagnostic => {
    const begin = Math.min(within(from), Math.max(0, state.doc.length - 1));
    return { from: begin, to: Math.max(begin, within(to)), severity: 'error', message };
  });
  dispatch(setDiagnostics(state, diagnostics));
}

/** Replaces the text as one undo step. The cursor stays if it is in an unchanged part. */
export function replaceAll(view: EditorView, text: string): void {
  const now = view.state.doc.toString();
  const most = Math.min(now.length, text.length);
  let from = 0;
  while (from < most && now[from] === text[from]) from += 1;
  let same = 0;
  while (same < most - from && now.at(-1 - same) === text.at(-1 - same)) same += 1;
  view.dispatch({
    changes: { from, to: now.length - same, insert: text.slice(from, text.length - same) },
    annotations: isolateHistory.of('full'),
  });
}

/** Creates an editor. Escape and then Tab leaves it, so that keyboard focus is not trapped. */
export function makeEditor(
  host: HTMLElement,
  latest: { current: CodeEditorProps },
  more: Extension = [],
): EditorView {
  const props = latest.current;
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const single = props.single === true;
  const extensions: Extension[] = [
    runs(latest),
    history(),
    drawSelection(),
    highlightSpecialChars(),
    TYPE_OVER,
    INTO_BRACES,
    bracketMatching(),
    languageOf(props),
    highlighting,
    syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
    keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
    keymap.of([...foldKeymap, ...(single ? [] : [indentWithTab])]),
    // Accessible name; marked as focusable.
    EditorView.contentAttributes.of(() => attributesOf(latest.current)),
    props.placeholder === undefined ? [] : placeholder(props.placeholder),
    EditorState.readOnly.of(props.readOnly === true),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) latest.current.onChange?.(update.state.doc.toString());
      if (update.selectionSet || update.docChanged) latest.current.onSelect?.(partOf(update.state));
    }),
    bounded(
      () => latest.current.bound,
      (characters) => latest.current.onRefused?.(characters),
    ),
    THEME,
    EditorView.lineWrapping,
    props.extensions ?? [],
    more,
  ];
  if (!single) extensions.push(lineNumbers(), foldGutter());
  const state = EditorState.create({ doc: props.value, extensions });
  const view = new EditorView({ state, parent: root, root });
  if (props.start != null) {
    // A CRLF counts as one character here, so the text may be shorter than the stored positions.
    const within = (at: number) => Math.min(at, state.doc.length);
    const selection = { anchor: within(props.start.from), head: within(props.start.to) };
    view.dispatch({ selection, scrollIntoView: true });
  }
  return view;
}
