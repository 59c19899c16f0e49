// A checkbox that selects one row of the list, or all.

export interface CheckProps {
  label: string;
  isChecked: boolean;
  /** Some but not all are selected. */
  isPartly?: boolean;
  onToggle: () => void;
}

export function Check({ label, isChecked, isPartly = false, onToggle }: CheckProps) {
  return (
    <label className="database-check">
      <input
        type="checkbox"
        aria-label={label}
        checked={isChecked}
        ref={(box) => {
          if (box !== null) box.indeterminate = isPartly && !isChecked;
        }}
        onChange={onToggle}
      />
    </label>
  );
}
