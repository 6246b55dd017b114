/** Start and stop of one stream. Taking a running stream off air asks once more, because viewers notice. */
import { Button, Popover, Tooltip } from '@mantine/core';
import { IconPlayerPlayFilled, IconPlayerStopFilled } from '@tabler/icons-react';
import { useId, useState } from 'react';
import type { Stream } from '../../api/api.ts';
import { Name } from '../../ui/name.tsx';
import { actionsIn, stopAsks } from './phase.ts';
import classes from './power.module.css';
import { findStartWords, findStopWords, nameStop } from './power.ts';
import { usePower } from './queries.ts';

type Power = ReturnType<typeof usePower>;

interface StopButtonProps {
  name: string;
  phase: string;
  power: Power;
}

function StopButton({ name, phase, power }: StopButtonProps) {
  const [asking, setAsking] = useState(false);
  const titleId = useId();
  const words = findStopWords(phase);
  const { label, question, consequence, no, yes } = words;
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
          aria-label={nameStop(words, name)}
          loading={power.isPending && power.want === 'stop'}
          onClick={() => (stopAsks(phase) ? setAsking((open) => !open) : stop())}
          data-testid="stream-stop"
        >
          {label}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-labelledby={titleId}>
        <p id={titleId} className={classes.question}>
          {question}
        </p>
        <p className={classes.name}>
          <Name>{name}</Name>
        </p>
        <p className={classes.consequence}>{consequence}</p>
        <div className={classes.answers}>
          <Button size="sm" variant="default" onClick={() => setAsking(false)} data-autofocus>
            {no}
          </Button>
          <Button size="sm" variant="danger" onClick={stop} data-testid="stream-stop-confirm">
            {yes}
          </Button>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

interface StartButtonProps {
  stream: Stream;
  phase: string;
  power: Power;
}

function StartButton({ stream, phase, power }: StartButtonProps) {
  const { label, hint } = findStartWords(phase, stream);
  const button = (
    <Button
      leftSection={<IconPlayerPlayFilled size={15} aria-hidden />}
      aria-label={`${label} ${stream.name}`}
      loading={power.isPending && power.want === 'start'}
      disabled={!actionsIn(phase).includes('start')}
      onClick={() => power.mutate('start')}
      data-testid="stream-start"
    >
      {label}
    </Button>
  );
  return hint ? <Tooltip label={hint}>{button}</Tooltip> : button;
}

/** The buttons that make sense in a state; while it is going off air, a start that waits for it. */
export function StartStopButtons({ stream, phase }: { stream: Stream; phase: string }) {
  const power = usePower(stream);
  const actions = actionsIn(phase);
  return (
    <div className={classes.buttons}>
      {actions.includes('stop') && <StopButton name={stream.name} phase={phase} power={power} />}
      {(actions.includes('start') || actions.length === 0) && (
        <StartButton stream={stream} phase={phase} power={power} />
      )}
    </div>
  );
}
