import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKeyPolicy } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import classes from './account.module.css';
import { EVER, listLives } from './keyChoices.ts';
import { keys } from './queries.ts';

/** A policy that a program has set to another number of days is among the choices. */
const listChoices = (maxKeyDays: number | null) => {
  const usual = listLives(null).map((life) => (life.value === EVER ? { ...life, label: 'No limit' } : life));
  const isUsual = maxKeyDays === null || usual.some(({ value }) => value === String(maxKeyDays));
  return isUsual ? usual : [...listLives(maxKeyDays).slice(-1), ...usual];
};

function ChangePolicy({ maxKeyDays, onClose }: ApiKeyPolicy & { onClose: () => void }) {
  const { apiKeyPolicy } = useApi().calls;
  const queries = useQueryClient();
  const [days, setDays] = useState(maxKeyDays === null ? EVER : String(maxKeyDays));
  const { submit, busy, problem } = useSubmit<string, ApiKeyPolicy>({
    send: (value) => apiKeyPolicy.update({ maxKeyDays: value === EVER ? null : Number(value) }),
    fields: [],
    onMistakes: () => undefined,
    onDone: async () => {
      onClose();
      await Promise.all([keys.apiKeys, keys.apiKeyPolicy].map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
  });
  return (
    <Dialog title="Longest life of a key" onClose={onClose} busy={busy}>
      <form
        className={forms.form}
        aria-label="Longest life of a key"
        onSubmit={(event) => {
          event.preventDefault();
          submit(days);
        }}
      >
        <Choices
          legend="Keys live for at most"
          name="days"
          choices={listChoices(maxKeyDays)}
          value={days}
          onChange={setDays}
        />
        {days !== EVER && (
          <p className={forms.help}>
            Keys that are older expire immediately, and the programs that use them lose access. Other keys expire when
            they reach this age.
          </p>
        )}
        <FormEnd problem={problem} busy={busy} onCancel={onClose}>
          Save
        </FormEnd>
      </form>
    </Dialog>
  );
}

/** The account's rule for the life of its keys. */
export function KeyPolicy({ maxKeyDays }: ApiKeyPolicy) {
  const [isOpen, setIsOpen] = useState(false);
  const days = maxKeyDays === 1 ? 'a day' : `${maxKeyDays} days`;
  return (
    <section className={classes.policy} aria-label="Longest life of a key">
      <p className={classes.dim}>
        {maxKeyDays === null ? 'Your account sets no limit on the life of a key.' : `Keys live for at most ${days}.`}
      </p>
      <Button variant="default" size="sm" onClick={() => setIsOpen(true)}>
        Change limit
      </Button>
      {isOpen && <ChangePolicy maxKeyDays={maxKeyDays} onClose={() => setIsOpen(false)} />}
    </section>
  );
}
