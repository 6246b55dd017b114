/** Fields of a stream that are a choice of one among a few, as its table of fields declares them. */
import { NativeSelect } from '@mantine/core';
import type { ChoiceField } from './choiceValues.ts';
import { CHOICES, LABELS } from './fields.ts';

interface ChoiceFieldsProps {
  fields: readonly ChoiceField[];
  getInputProps: (field: ChoiceField) => object;
}

export const ChoiceFields = ({ fields, getInputProps }: ChoiceFieldsProps) =>
  fields.map((field) => (
    <NativeSelect key={field} label={LABELS[field]} data={[...CHOICES[field]]} {...getInputProps(field)} />
  ));
