/** A time zone, found by a part of its name. */
import type { ComboboxItem, OptionsFilter } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { listTimeZones, matchesZone } from '../lib/timeZones.ts';
import { SearchChoice } from './searchChoice.tsx';

const filterZones: OptionsFilter = ({ options, search }) =>
  (options as ComboboxItem[]).filter(({ value }) => matchesZone(value, search));

interface ZoneChoiceProps {
  /** The zone at the top of the list. */
  first: string;
  value?: string;
  onChange?: (zone: string) => void;
  error?: ReactNode;
}

export function ZoneChoice({ first, value = first, onChange = () => undefined, error }: ZoneChoiceProps) {
  const zones = useMemo(() => listTimeZones(first), [first]);
  return (
    <SearchChoice
      label="Time zone"
      description="Type a city or region, such as Kolkata."
      choices={(zones.includes(value) ? zones : [value, ...zones]).map((zone) => ({ value: zone, label: zone }))}
      value={value}
      onChange={onChange}
      error={error}
      filter={filterZones}
      none="No zone has this name."
    />
  );
}
