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
      Changed elsewhere meanwhile: {names.join(', ').toLowerCase()}. Saving puts yours in its place; Cancel keeps the
      other.
    </p>
  );
}
