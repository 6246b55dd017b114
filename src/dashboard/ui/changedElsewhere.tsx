import classes from './form.module.css';

interface ChangedElsewhereProps {
  fields: readonly string[];
  /** Field → what people call it. */
  labels: Readonly<Record<string, string>>;
}

/** Another tab, or a program, has changed what is being changed here. */
export function ChangedElsewhere({ fields, labels }: ChangedElsewhereProps) {
  if (fields.length === 0) return null;
  const names = [...new Set(fields.map((field) => labels[field] ?? field))];
  return (
    <p className={classes.warning} role="alert" data-testid="elsewhere">
      Changed elsewhere in the meantime: {names.join(', ').toLowerCase()}. Save replaces these changes with yours.
      Cancel keeps them.
    </p>
  );
}
