import { Button } from '@mantine/core';
import { askAgain } from './addresses.ts';
import { Frame } from './frame.tsx';

/** Leads on to a program that waits, after a mail's link was followed. `asked`: its query. */
export const ContinueToApp = ({ title, asked }: { title: string; asked: string }) => (
  <Frame alert title={title} lead="Sign in to continue with the app that sent you here.">
    <Button component="a" href={askAgain(asked)} size="md" fullWidth>
      Continue
    </Button>
  </Frame>
);
