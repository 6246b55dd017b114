/** Several of a list that is seen as a whole: check boxes. */
import type { ReactNode } from 'react';
import type { CheckboxItem } from './checkboxItem.ts';
import { Name } from './name.tsx';
import { Poster } from './poster.tsx';
import classes from './ticks.module.css';

interface TicksProps {
  legend: string;
  ticks: readonly CheckboxItem[];
  values: readonly string[];
  onChange: (values: string[]) => void;
  /** More than this cannot be chosen. */
  most: number;
  /** One only: radio buttons. */
  single?: boolean;
  name: string;
  error?: ReactNode;
}

export function CheckboxList({ legend, ticks, values, onChange, most, single = false, name, error }: TicksProps) {
  const full = !single && values.length >= most;
  const change = (value: string, on: boolean) => {
    if (single) return onChange([value]);
    onChange(on ? [...values, value] : values.filter((one) => one !== value));
  };
  return (
    <fieldset className={classes.ticks} aria-describedby={error ? `${name}-error` : undefined}>
      <legend>{legend}</legend>
      <div className={classes.list}>
        {ticks.map(({ value, label, hint, picture }) => {
          const checked = values.includes(value);
          return (
            <label key={value} className={classes.tick}>
              <input
                type={single ? 'radio' : 'checkbox'}
                name={name}
                value={value}
                checked={checked}
                disabled={full && !checked}
                onChange={(event) => change(value, event.currentTarget.checked)}
              />
              {picture && <Poster {...picture} size="small" />}
              <span>
                <Name>{label}</Name>
                {hint && <small>{hint}</small>}
              </span>
            </label>
          );
        })}
      </div>
      {error && (
        <p id={`${name}-error`} className={classes.error} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
