// The indexing policy as form and text, with its errors.

import { Button } from '../../../ui/Button';
import { CodeEditor } from '../../../ui/CodeEditor';
import { PolicyFormView } from './PolicyFormView';
import { DEFAULT_POLICY, POLICY_BOUND, policyText } from './policy';
import { formOf, withForm } from './policyForm';

export interface PolicySectionProps {
  text: string;
  changed: boolean;
  problems: readonly string[];
  disabled: boolean;
  onText: (text: string) => void;
}

export function PolicySection(props: PolicySectionProps) {
  const { text, changed, problems, disabled, onText } = props;
  const form = formOf(text);
  return (
    <>
      <p className="hint">
        The policy determines which paths of an item may be indexed. It affects the cost of queries,
        not their results. Paths under a wildcard are indexed on demand, once queries scan many
        items.
      </p>
      <div className="settings-beside">
        {form === null ? (
          <p className="hint">The JSON is not a valid policy. The form returns once it is.</p>
        ) : (
          <PolicyFormView
            form={form}
            disabled={disabled}
            onForm={(next) => onText(withForm(text, next))}
          />
        )}
        <div className={changed ? 'settings-editor settings-changed' : 'settings-editor'}>
          <CodeEditor
            label={changed ? 'Indexing policy (changed)' : 'Indexing policy'}
            language="json"
            bound={POLICY_BOUND}
            value={text}
            readOnly={disabled}
            onChange={(next) => {
              if (next !== text) onText(next);
            }}
          />
        </div>
      </div>
      <div role="alert">
        {problems.map((problem) => (
          <p key={problem} className="error">
            {problem}
          </p>
        ))}
      </div>
      <div className="row">
        <Button disabled={disabled} onClick={() => onText(policyText(DEFAULT_POLICY))}>
          Reset to default
        </Button>
      </div>
    </>
  );
}
