/** Shows its children to a person who has signed in, and tells the holder of a key how to sign in. */
import { Button } from '@mantine/core';
import { IconUserCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useSession, useWho } from '../../api/context.tsx';
import { Empty, PageHead, useTitle } from '../../ui/page.tsx';

/** `title`: of the page, whose own head comes with its children. */
export function UserOnly({ title, children }: { title: string; children: ReactNode }) {
  const { key, hasKeptKey } = useWho();
  const session = useSession();
  useTitle(title);
  if (key === undefined && !hasKeptKey) return children;
  return (
    <>
      <PageHead title={title} />
      <Empty
        icon={IconUserCheck}
        title="Sign in as yourself"
        action={<Button onClick={() => session.signOut()}>Sign in with your password</Button>}
      >
        You are signed in with an API key. Only the account’s owner can see and change who has access to the account.
      </Empty>
    </>
  );
}
