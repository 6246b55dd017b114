import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Stream } from '../../api/api.ts';
import { useApi } from '../../api/context.tsx';
import { quote } from '../../lib/isolate.ts';
import { CheckboxList } from '../../ui/checkboxList.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import { useChoices } from './choices.ts';
import { nameCopy, toCopy } from './duplicate.ts';

const MOST_DESTINATIONS = 5;

interface CopyValues {
  name: string;
  destinationIDs: string[];
}

/** Makes a copy of a stream, off air, for other destinations. */
export function DuplicateForm({ stream, onClose }: { stream: Stream; onClose: () => void }) {
  const { streams } = useApi().calls;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { destinations } = useChoices();
  const [values, setValues] = useState<CopyValues>({ name: nameCopy(stream.name), destinationIDs: [] });
  const [mistakes, setMistakes] = useState<Record<string, string>>({});
  const { submit, busy, problem } = useSubmit<CopyValues, Stream>({
    send: ({ name, destinationIDs }, idempotencyKey) =>
      streams.create(toCopy(stream, name, destinationIDs), { idempotencyKey }),
    fields: ['name', 'destinationIDs'],
    onMistakes: setMistakes,
    onDone: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['streams'] });
      onClose();
      await navigate({ to: '/streams/$id', params: { id } });
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    const found = {
      ...(values.name.trim() === '' && { name: 'Enter a name.' }),
      ...(values.destinationIDs.length === 0 && { destinationIDs: 'Choose a destination.' }),
    };
    setMistakes(found);
    if (Object.keys(found).length === 0) submit(values);
  };
  const ticks = (destinations ?? []).map(({ id, name, rtmpUrl }) => ({
    value: id,
    label: name,
    hint: stream.destinationIDs.includes(id) ? `${quote(stream.name)} is sent there` : rtmpUrl,
  }));
  return (
    <Dialog title="Duplicate stream" onClose={onClose} busy={busy}>
      <form className={forms.form} onSubmit={send} noValidate>
        <p className={forms.help}>
          The copy plays the same media in the same quality. It has no schedule and stays off air until you start it.
        </p>
        <TextInput
          label="Name"
          autoComplete="off"
          data-autofocus
          value={values.name}
          error={mistakes.name}
          onChange={({ currentTarget: { value } }) => setValues((before) => ({ ...before, name: value }))}
        />
        <CheckboxList
          legend="Destinations of the copy"
          name="copy-destinations"
          most={MOST_DESTINATIONS}
          ticks={ticks}
          values={values.destinationIDs}
          onChange={(destinationIDs) => setValues((before) => ({ ...before, destinationIDs }))}
          error={mistakes.destinationIDs}
        />
        <p className={forms.help}>
          Two streams cannot publish to one stream key at the same time.{' '}
          <Link to="/destinations" search={{ form: 'new' }}>
            Add a destination
          </Link>
        </p>
        <FormEnd problem={problem} busy={busy} onCancel={onClose}>
          Duplicate
        </FormEnd>
      </form>
    </Dialog>
  );
}
