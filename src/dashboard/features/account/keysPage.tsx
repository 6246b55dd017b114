import { Button, CopyButton, TextInput } from '@mantine/core';
import { IconCheck, IconCopy, IconKey, IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey, CreatedApiKey } from '../../../service/client/index.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { formatAgo, formatDay } from '../../lib/format.ts';
import { Choices } from '../../ui/choices.tsx';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { Name } from '../../ui/name.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Empty, PageHead, RowsLoading } from '../../ui/page.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { useOpen } from '../../ui/useOpen.ts';
import { useSubmit } from '../../ui/useSubmit.ts';
import classes from './account.module.css';
import { keys, useApiKeys } from './queries.ts';
import { UserOnly } from './userOnly.tsx';

const LEAD = 'Keys for your own programs. A key has your full access, so keep it as secret as your password.';

const LIVES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
  { value: 'ever', label: 'No expiry' },
] as const;
interface KeyValues {
  name: string;
  life: (typeof LIVES)[number]['value'];
}

function CreateKey({ onClose, onMade }: { onClose: () => void; onMade: (key: CreatedApiKey) => void }) {
  const { apiKeys } = useApi().calls;
  const { form, forgetBefore } = useDraftForm<KeyValues>({
    name: 'key',
    initialValues: { name: '', life: '90' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter the purpose of the key.' : null) },
  });
  const { submit, busy, problem } = useSubmit<KeyValues, CreatedApiKey>({
    send: ({ name, life }) =>
      apiKeys.create({ name: name.trim(), ...(life !== 'ever' && { expiresInDays: Number(life) }) }),
    fields: ['name'],
    onMistakes: form.setErrors,
    onDone: forgetBefore(onMade),
  });
  const cancel = forgetBefore(onClose);
  return (
    <Dialog title="New API key" onClose={cancel} busy={busy}>
      <form className={forms.form} aria-label="New API key" onSubmit={form.onSubmit(submit)} noValidate>
        <TextInput
          label="Name"
          description="Purpose of the key, so that you recognize it later."
          placeholder="Playout server"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Choices
          legend="Valid for"
          name="life"
          choices={LIVES}
          value={form.values.life}
          onChange={(life) => form.setFieldValue('life', life)}
        />
        <FormEnd problem={problem} busy={busy} onCancel={cancel}>
          Create key
        </FormEnd>
      </form>
    </Dialog>
  );
}

/** The one time that a key is seen. */
function ShownOnce({ made, onClose }: { made: CreatedApiKey; onClose: () => void }) {
  return (
    <Dialog title="Copy your key now" onClose={onClose}>
      <p className={forms.help}>
        The key is shown only once. Store it with your passwords: anyone who has it can use your account.
      </p>
      <div className={classes.secret}>
        <code data-testid="new-key">{made.key}</code>
        <CopyButton value={made.key}>
          {({ copied, copy }) => (
            <Button
              variant="default"
              leftSection={copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />}
              onClick={copy}
              data-autofocus
            >
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </div>
      <DialogActions>
        <Button onClick={onClose}>I have copied it</Button>
      </DialogActions>
    </Dialog>
  );
}

function KeyRow({ apiKey, now, onRevoke }: { apiKey: ApiKey; now: number; onRevoke: () => void }) {
  const { name, hint, createdAt, expiresAt, lastUsedAt } = apiKey;
  const ended = expiresAt !== null && Date.parse(expiresAt) <= now;
  return (
    <li className={classes.row}>
      <div className={classes.rowMain}>
        <h2>
          <Name>{name}</Name>
        </h2>
        <p className={classes.dim}>
          <code>{hint}…</code> · created {formatDay(createdAt)} ·{' '}
          {expiresAt === null ? 'no expiry' : `${ended ? 'expired' : 'valid until'} ${formatDay(expiresAt)}`} ·{' '}
          {lastUsedAt === null ? 'never used' : `last used ${formatAgo(new Date(lastUsedAt), new Date(now))}`}
        </p>
      </div>
      <Button variant="default" size="sm" onClick={onRevoke} aria-label={`Revoke ${name}`}>
        Revoke
      </Button>
    </li>
  );
}

function Keys() {
  const { data, error, isPending, refetch } = useApiKeys();
  const failure = useFailure(data, error);
  const { apiKeys } = useApi().calls;
  const queries = useQueryClient();
  const now = useNow(false);
  const { opened, open, close } = useOpen();
  const [made, setMade] = useState<CreatedApiKey>();
  const [revoking, setRevoking] = useState<ApiKey>();
  const changed = () => queries.invalidateQueries({ queryKey: keys.apiKeys });
  const create = (
    <Button leftSection={<IconPlus size={17} aria-hidden />} onClick={() => open('new')}>
      New API key
    </Button>
  );
  if (failure) return <Failure title="Your keys could not be loaded" error={failure} retry={refetch} />;
  return (
    <>
      <PageHead title="API keys" lead={LEAD}>
        {data && data.data.length > 0 && create}
      </PageHead>
      {isPending && <RowsLoading what="your keys" />}
      {data?.data.length === 0 && (
        <Empty icon={IconKey} title="No key yet" action={create}>
          Create a separate key for each program. Then you can revoke one without the others.
        </Empty>
      )}
      <ul className={classes.rows}>
        {data?.data.map((key) => (
          <KeyRow key={key.id} apiKey={key} now={now} onRevoke={() => setRevoking(key)} />
        ))}
      </ul>
      {opened === 'new' && (
        <CreateKey
          onClose={close}
          onMade={(key) => {
            close();
            setMade(key);
            return changed();
          }}
        />
      )}
      {made && <ShownOnce made={made} onClose={() => setMade(undefined)} />}
      {revoking && (
        <DeleteDialog
          noun="API key"
          name={revoking.name}
          remove={() => apiKeys.revoke(revoking.id)}
          onClose={() => setRevoking(undefined)}
          onDone={() => {
            setRevoking(undefined);
            void changed();
          }}
        >
          Programs that use this key lose access immediately. A revoked key cannot be restored.
        </DeleteDialog>
      )}
    </>
  );
}

export const KeysPage = () => (
  <UserOnly title="API keys">
    <Keys />
  </UserOnly>
);
