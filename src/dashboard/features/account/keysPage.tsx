import { Button, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy, IconKey, IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey, CreatedApiKey } from '../../../service/client/index.ts';
import { useApi, useNow } from '../../api/context.tsx';
import { formatAgo, formatDay } from '../../lib/format.ts';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { Name } from '../../ui/name.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Empty, PageHead, RowsLoading } from '../../ui/page.tsx';
import { useFailure } from '../../ui/useFailure.ts';
import { useOpen } from '../../ui/useOpen.ts';
import classes from './account.module.css';
import { CreateKey } from './createKey.tsx';
import { describeScopes } from './keyChoices.ts';
import { KeyPolicy } from './keyPolicy.tsx';
import { keys, useApiKeyPolicy, useApiKeys } from './queries.ts';
import { UserOnly } from './userOnly.tsx';

const LEAD =
  'Keys for your own programs. Give each only the access that it needs, and keep it as secret as your password.';

/** The one time that a key is seen. */
function ShownOnce({ made, onClose }: { made: CreatedApiKey; onClose: () => void }) {
  return (
    <Dialog title="Copy your key now" onClose={onClose}>
      <p className={forms.help}>
        The key is shown only once. Store it with your passwords: anyone who has it can do what you have allowed it.
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
  const { name, hint, scopes, labelSelector, createdAt, expiresAt, lastUsedAt, lastUsedAddress } = apiKey;
  const ended = expiresAt !== null && Date.parse(expiresAt) <= now;
  return (
    <li className={classes.row}>
      <div className={classes.rowMain}>
        <h2>
          <Name>{name}</Name>
        </h2>
        <p className={classes.dim}>
          <code>{hint}…</code> · {describeScopes(scopes)}
          {labelSelector !== null && (
            <>
              {' '}
              · only <code>{labelSelector}</code>
            </>
          )}{' '}
          · created {formatDay(createdAt)} ·{' '}
          {expiresAt === null ? 'no expiry' : `${ended ? 'expired' : 'valid until'} ${formatDay(expiresAt)}`} ·{' '}
          {lastUsedAt === null ? 'never used' : `last used ${formatAgo(new Date(lastUsedAt), new Date(now))}`}
          {lastUsedAddress && ` from ${lastUsedAddress}`}
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
  const policy = useApiKeyPolicy().data;
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
      {policy && <KeyPolicy {...policy} />}
      {opened === 'new' && policy && (
        <CreateKey
          {...policy}
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
