/** One of a list, found by a part of its name. */
import { type OptionsFilter, Select } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import classes from './searchChoice.module.css';

interface SearchChoiceProps {
  label: string;
  description?: string;
  choices: readonly { value: string; label: string }[];
  /** Empty while nothing is chosen. */
  value: string;
  onChange: (value: string) => void;
  error?: ReactNode;
  filter?: OptionsFilter;
  /** Stands in place of the list where nothing has the name. */
  none: string;
}

export function SearchChoice({ label, choices, value, onChange, filter, none, ...field }: SearchChoiceProps) {
  const [shown, setShown] = useState(choices.find((one) => one.value === value)?.label ?? value);
  /** A name that is typed as a whole needs no second step. */
  const search = (text: string) => {
    setShown(text);
    const typed = choices.find((one) => one.label.toLowerCase() === text.trim().toLowerCase());
    if (typed && typed.value !== value) onChange(typed.value);
  };
  return (
    <Select
      label={label}
      {...field}
      data={choices}
      value={value || null}
      onChange={(next) => next && onChange(next)}
      searchable
      searchValue={shown}
      onSearchChange={search}
      // The same choice again is no change, after which Mantine would show its name.
      onOptionSubmit={(next) => setShown(choices.find((one) => one.value === next)?.label ?? next)}
      selectFirstOptionOnChange
      allowDeselect={false}
      {...(filter && { filter })}
      nothingFoundMessage={none}
      withScrollArea={false}
      classNames={{ dropdown: classes.list, option: classes.option }}
      // Nothing outside of a dialog can be reached.
      comboboxProps={{ withinPortal: false, keepMounted: false }}
    />
  );
}
