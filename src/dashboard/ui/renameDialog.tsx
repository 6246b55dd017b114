import { TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Dialog } from './dialog.tsx';
import forms from './form.module.css';
import { FormEnd } from './formEnd.tsx';
import { useSubmit } from './useSubmit.ts';

interface RenameProps {
  /** The kind of thing, e.g. `upload`. */
  noun: string;
  name: string;
  rename: (name: string) => Promise<unknown>;
  onClose: () => void;
  onDone: () => unknown;
}

/** Gives a thing another name. */
export function RenameDialog({ noun, name, rename, onClose, onDone }: RenameProps) {
  const [value, setValue] = useState(name);
  const [mistake, setMistake] = useState<string>();
  const { submit, busy, problem } = useSubmit<string, unknown>({
    send: rename,
    fields: ['name'],
    onMistakes: (fields) => setMistake(fields.name),
    onDone,
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    const next = value.trim();
    if (next === '') return setMistake('Enter a name.');
    if (next === name) return onClose();
    submit(next);
  };
  return (
    <Dialog title={`Rename ${noun}`} onClose={onClose} busy={busy}>
      <form className={forms.form} onSubmit={send} noValidate>
        <TextInput
          label="New name"
          autoComplete="off"
          data-autofocus
          value={value}
          error={mistake}
          onChange={(event) => {
            setValue(event.currentTarget.value);
            setMistake(undefined);
          }}
        />
        <FormEnd problem={problem} busy={busy} onCancel={onClose}>
          Rename
        </FormEnd>
      </form>
    </Dialog>
  );
}
