/** A time zone, found by a part of its name. */
import { type ComboboxItem, type OptionsFilter, Select } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';
import { listTimeZones, matchesZone } from '../lib/timeZones.ts';
import classes from './zoneChoice.module.css';

const filterZones: OptionsFilter = ({ options, search }) =>
  (options as ComboboxItem[]).filter(({ value }) => matchesZone(value, search));

interface ZoneChoiceProps {
  /** The zone at the top of the list. */
  first: string;
  value?: string;
  onChange?: (zone: string) => void;
  error?: ReactNode;
}

export function ZoneChoice({ first, value = first, onChange, error }: ZoneChoiceProps) {
  const [shown, setShown] = useState(value);
  const zones = useMemo(() => listTimeZones(first), [first]);
  /** A name that is typed as a whole needs no second step. */
  const search = (text: string) => {
    setShown(text);
    const typed = zones.find((zone) => zone.toLowerCase() === text.trim().toLowerCase());
    if (typed && typed !== value) onChange?.(typed);
  };
  return (
    <Select
      label="Time zone"
      description="Type a city or region, such as Kolkata."
      data={zones.includes(value) ? zones : [value, ...zones]}
      value={value}
      onChange={(zone) => zone && onChange?.(zone)}
      error={error}
      searchable
      searchValue={shown}
      onSearchChange={search}
      // The same zone again is no change, after which Mantine would show its name.
      onOptionSubmit={setShown}
      selectFirstOptionOnChange
      allowDeselect={false}
      filter={filterZones}
      nothingFoundMessage="No zone has this name."
      withScrollArea={false}
      classNames={{ dropdown: classes.list, option: classes.option }}
      // Nothing outside of a dialog can be reached.
      comboboxProps={{ withinPortal: false, keepMounted: false }}
    />
  );
}
