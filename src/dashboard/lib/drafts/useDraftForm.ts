import { type UseFormInput, useForm } from '@mantine/form';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useDrafts } from './context.tsx';
import { type FormFields, findTyped, taken, withTyped } from './store.ts';

interface KeptFormOptions<Values> extends UseFormInput<Values> {
  /** The name of its draft; it includes the id of the thing that is changed. */
  name: string;
  /** The form begins with these. Where they change meanwhile, others have changed the thing. */
  initialValues: Values;
  /** Fields that are never kept. */
  secrets?: readonly (keyof Values & string)[];
}

/**
 * Mantine's form, with what was typed kept until it is sent or thrown away (`forgetBefore`). Changes of others are taken
 * up, but for what was typed here: `elsewhere` names the fields in which theirs differs.
 */
export function useDraftForm<Values extends object>({ name, secrets = [], ...options }: KeptFormOptions<Values>) {
  const drafts = useDrafts();
  const forgotten = useRef(false);
  const form = useForm<Values>({
    ...options,
    onValuesChange: (values, before) => {
      options.onValuesChange?.(values, before);
      if (forgotten.current) return;
      drafts.write(name, findTyped(form.getInitialValues() as FormFields, values as FormFields, secrets));
    },
  });
  const [elsewhere, setElsewhere] = useState<string[]>([]);
  const set = (next: { values: FormFields; elsewhere: string[] }) => {
    form.setValues(next.values as Values);
    setElsewhere((before) => [...new Set([...before, ...next.elsewhere])]);
  };
  // Before it is painted, so that nothing is typed into a field that is about to be filled.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was kept is put back once, when the form opens.
  useLayoutEffect(() => {
    const stored = drafts.read(name);
    if (stored !== undefined) set(withTyped(options.initialValues as FormFields, stored));
  }, []);
  const theirs = JSON.stringify(options.initialValues);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form itself is a new one with each rendering.
  useEffect(() => {
    const first = form.getInitialValues() as FormFields;
    if (JSON.stringify(first) === theirs) return;
    const next = taken(first, form.getValues() as FormFields, options.initialValues as FormFields);
    form.setInitialValues(options.initialValues);
    set(next);
  }, [theirs]);
  /** Wraps a function that ends the form, so that the draft is forgotten first. */
  const forgetBefore =
    <Given extends unknown[], Result>(end: (...given: Given) => Result) =>
    (...given: Given): Result => {
      forgotten.current = true;
      drafts.write(name, undefined);
      return end(...given);
    };
  return { form, forgetBefore, elsewhere };
}
