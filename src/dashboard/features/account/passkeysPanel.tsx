/** The passkeys of an account: made by the device in front of the person, named, and taken away again. */
import { Button, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { formatDay } from '../../lib/format.ts';
import { DeleteDialog } from '../../ui/deleteDialog.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { Name } from '../../ui/name.tsx';
import classes from './account.module.css';
import { AccountPanel } from './accountPanel.tsx';
import { findPasskeySite } from './addresses.ts';
import { authApi, type Passkey } from './authApi.ts';
import { explainAuthError } from './authErrors.ts';
import { nameBrowser } from './browsers.ts';
import { Problem, useFields, wrongText } from './fields.tsx';
import { keys, useOptions, usePasskeys } from './queries.ts';
import { useAuthAction } from './useAuthAction.ts';

const MAX_NAME = 64;

const NamePasskeyField = ({ wrong, value }: { wrong: string | undefined; value: string }) => (
  <TextInput
    name="name"
    label="Name"
    description="The device that holds the passkey, so that you recognize it later."
    autoComplete="off"
    defaultValue={value}
    error={wrong}
    data-autofocus
  />
);

interface NameProps {
  title: string;
  /** The label of the button. */
  action: string;
  name: string;
  send: (name: string) => Promise<unknown>;
  onClose: () => void;
  message: string;
}

/** Asks for a name, and sends it. */
function NameDialog({ title, action, name, send, onClose, message }: NameProps) {
  const queries = useQueryClient();
  const { run, busy, error } = useAuthAction(send, () => {
    notifications.show({ message });
    onClose();
    return queries.invalidateQueries({ queryKey: keys.passkeys });
  });
  const { wrong, problem, props } = useFields(
    ({ name: typed = '' }) => ({ name: typed === '' ? 'Enter a name.' : wrongText(typed, MAX_NAME) }),
    ({ name: typed = '' }) => run(typed),
    error,
  );
  return (
    <Dialog title={title} onClose={onClose} busy={busy}>
      <form className={forms.form} aria-label={title} {...props}>
        <NamePasskeyField wrong={wrong.name} value={name} />
        <FormEnd problem={problem} busy={busy} onCancel={onClose}>
          {action}
        </FormEnd>
      </form>
    </Dialog>
  );
}

function PasskeyLine({ passkey }: { passkey: Passkey }) {
  const queries = useQueryClient();
  const [asking, setAsking] = useState<'rename' | 'remove'>();
  const { id, name, createdAt } = passkey;
  const close = () => setAsking(undefined);
  return (
    <li>
      <div>
        <p>
          <Name>{name}</Name>
        </p>
        <p className={classes.dim}>Added {formatDay(createdAt)}</p>
      </div>
      <div className={classes.nameRow}>
        <Button variant="default" size="xs" onClick={() => setAsking('rename')} aria-label={`Rename ${name}`}>
          Rename
        </Button>
        <Button variant="default" size="xs" onClick={() => setAsking('remove')} aria-label={`Remove ${name}`}>
          Remove
        </Button>
      </div>
      {asking === 'rename' && (
        <NameDialog
          title="Rename this passkey"
          action="Save"
          name={name}
          send={(typed) => authApi.renamePasskey(id, typed)}
          onClose={close}
          message="The passkey is renamed."
        />
      )}
      {asking === 'remove' && (
        <DeleteDialog
          noun="passkey"
          name={name}
          remove={() => authApi.removePasskey(id)}
          onClose={close}
          onDone={() => {
            close();
            void queries.invalidateQueries({ queryKey: keys.passkeys });
          }}
        >
          The passkey no longer signs anyone in. Your device may keep offering it until you remove it there too.
        </DeleteDialog>
      )}
    </li>
  );
}

function NoPasskeys({ site }: { site: ReturnType<typeof findPasskeySite> }) {
  if (site instanceof URL)
    return (
      <p className={classes.dim}>
        Passkeys work at <a href={site.href}>{site.host}</a>. This page is at {location.host}.
      </p>
    );
  return (
    <p className={classes.dim}>
      Passkeys need a host name and a browser that supports them. This page is at {location.hostname}.
    </p>
  );
}

export function PasskeysPanel() {
  const { data, error } = usePasskeys();
  const [adding, setAdding] = useState(false);
  const site = findPasskeySite(location, useOptions()?.publicUrl);
  return (
    <AccountPanel
      title="Passkeys"
      lead="Sign in with your fingerprint, face or PIN instead of a password. Nobody can steal a passkey by a fake page."
    >
      <Problem>{error && explainAuthError(error)}</Problem>
      <ul className={classes.sessions}>
        {data?.map((passkey) => (
          <PasskeyLine key={passkey.id} passkey={passkey} />
        ))}
      </ul>
      {site === 'here' && 'PublicKeyCredential' in window ? (
        <div>
          <Button variant="default" onClick={() => setAdding(true)}>
            Add a passkey…
          </Button>
        </div>
      ) : (
        <NoPasskeys site={site} />
      )}
      {adding && (
        <NameDialog
          title="Add a passkey"
          action="Continue"
          name={nameBrowser(navigator.userAgent)}
          send={(name) => authApi.addPasskey(name)}
          onClose={() => setAdding(false)}
          message="The passkey is added. You can sign in with it now."
        />
      )}
    </AccountPanel>
  );
}
