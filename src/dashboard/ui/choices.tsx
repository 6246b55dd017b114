import type { ReactNode } from 'react';
import classes from './form.module.css';

export interface ShownChoice<Value extends string> {
  value: Value;
  label: string;
  icon?: ReactNode;
  /** Explains the choice in a few words. */
  hint?: string;
}

interface ChoicesProps<Value extends string> {
  legend: string;
  name: string;
  choices: readonly ShownChoice<Value>[];
  value: Value;
  onChange: (value: Value) => void;
}

/** A choice of one among a few, all of them in sight: radio buttons, moved through by the arrow keys. */
export function Choices<Value extends string>({ legend, name, choices, value, onChange }: ChoicesProps<Value>) {
  return (
    <fieldset className={classes.choices}>
      <legend>{legend}</legend>
      <div>
        {choices.map((choice) => (
          <label key={choice.value} className={classes.choice}>
            <input
              type="radio"
              name={name}
              value={choice.value}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            {choice.icon}
            {choice.label}
            {choice.hint && <small>{choice.hint}</small>}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
