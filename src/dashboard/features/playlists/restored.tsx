/** Says that a version was restored as a draft, and offers to publish it. */
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Playlist } from '../../../service/client/index.ts';
import classes from './playlists.module.css';

/** Its id among the notifications. */
export const RESTORED = 'version-restored';

interface RestoredProps {
  /** The version whose clips were taken. */
  restored: number;
  /** The playlist with the new version. */
  after: Playlist;
  publish: () => void;
}

export function notifyRestored({ restored, after, publish }: RestoredProps): void {
  notifications.show({
    id: RESTORED,
    title: `Version ${restored} is restored as version ${after.version}`,
    autoClose: 20_000,
    message: (
      <>
        <p className={classes.notice}>It is a draft: streams play what they play until it is published.</p>
        {after.items.length > 0 && (
          <Button
            size="compact-sm"
            mt={8}
            onClick={() => {
              notifications.hide(RESTORED);
              publish();
            }}
          >
            Publish
          </Button>
        )}
      </>
    ),
  });
}
