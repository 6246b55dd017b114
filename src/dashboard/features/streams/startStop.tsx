/** Start and stop of one stream. Taking a running stream off air asks once more, because viewers notice. */
import { Button, Popover } from '@mantine/core';
import { IconPlayerPlayFilled, IconPlayerStopFilled } from '@tabler/icons-react';
import { useId, useState } from 'react';
import type { Stream } from '../../api/api.ts';
import { actionsIn, isRunning } from './phase.ts';
import classes from './power.module.css';
import { usePower } from './queries.ts';

type Power = ReturnType<typeof usePower>;

function StopButton({ name, running, power }: { name: string; running: boolean; power: Power }) {
  const [asking, setAsking] = useState(false);
  const titleId = useId();
  const stop = () => {
    setAsking(false);
    power.mutate('stop');
  };
  return (
    <Popover opened={asking} onChange={setAsking} position="bottom-end" width={310} trapFocus returnFocus withArrow>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconPlayerStopFilled size={15} aria-hidden />}
          aria-label={`Stop ${name}`}
          loading={power.isPending && power.want === 'stop'}
          onClick={() => (running ? setAsking((open) => !open) : stop())}
          data-testid="stream-stop"
        >
          Stop
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-labelledby={titleId}>
        <p id={titleId} className={classes.question}>
          Take this stream off air?
        </p>
        <p className={classes.name}>{name}</p>
        <p className={classes.consequence}>The stream ends for viewers immediately, on every destination.</p>
        <div className={classes.answers}>
          <Button size="sm" variant="default" onClick={() => setAsking(false)} data-autofocus>
            Keep on air
          </Button>
          <Button size="sm" variant="danger" onClick={stop} data-testid="stream-stop-confirm">
            Stop stream
          </Button>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

function StartButton({ name, idle, power }: { name: string; idle: boolean; power: Power }) {
  return (
    <Button
      leftSection={<IconPlayerPlayFilled size={15} aria-hidden />}
      aria-label={`Start ${name}`}
      loading={power.isPending && power.want === 'start'}
      disabled={idle}
      onClick={() => power.mutate('start')}
      data-testid="stream-start"
    >
      Start
    </Button>
  );
}

/** The buttons that make sense in a state; while it is going off air, a start that waits for it. */
export function StartStopButtons({ stream, phase }: { stream: Stream; phase: string }) {
  const power = usePower(stream);
  const actions = actionsIn(phase);
  return (
    <div className={classes.buttons}>
      {actions.includes('stop') && <StopButton name={stream.name} running={isRunning(phase)} power={power} />}
      {(actions.includes('start') || actions.length === 0) && (
        <StartButton name={stream.name} idle={actions.length === 0} power={power} />
      )}
    </div>
  );
}
