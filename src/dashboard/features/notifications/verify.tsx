/** Confirms that a receiver wants what is sent to it, by the code that arrived there. */
import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Endpoint } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import forms from '../../ui/form.module.css';
import { Panel } from '../../ui/panel.tsx';
import { useOnce } from '../../ui/useOnce.ts';
import classes from './notifications.module.css';
import { useEndpointsChanged } from './queries.ts';
import { KIND_WORDS } from './text.ts';

export function VerifyPanel({ endpoint: { id, kind } }: { endpoint: Endpoint }) {
  const { endpoints } = useApi().calls;
  const changed = useEndpointsChanged();
  const [code, setCode] = useState('');
  const [mistake, setMistake] = useState<string>();
  const confirm = useOnce((text: string) => endpoints.verify(id, { code: text }), changed);
  const another = useOnce(() => endpoints.verify(id), changed);
  const send = (event: FormEvent) => {
    event.preventDefault();
    const text = code.trim();
    if (text === '') return setMistake('Enter the code.');
    another.forget();
    confirm.run(text);
  };
  return (
    <Panel title="Confirm this endpoint">
      <p className={forms.help}>{KIND_WORDS[kind].code} Until then, nothing else is sent.</p>
      <form className={classes.code} onSubmit={send} noValidate>
        <TextInput
          label="Code"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={20}
          value={code}
          error={mistake}
          onChange={(event) => {
            setCode(event.currentTarget.value);
            setMistake(undefined);
            confirm.forget();
          }}
        />
        <Button type="submit" loading={confirm.busy}>
          Confirm
        </Button>
        <Button
          variant="default"
          loading={another.busy}
          onClick={() => {
            confirm.forget();
            another.run(undefined);
          }}
        >
          Send another code
        </Button>
      </form>
      {(confirm.problem ?? another.problem) && (
        <p className={forms.problem} role="alert">
          {confirm.problem ?? another.problem}
        </p>
      )}
      <p className={forms.help} role="status">
        {another.done && 'Another code is on its way. Earlier ones are no longer valid.'}
      </p>
    </Panel>
  );
}
