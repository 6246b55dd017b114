/** Shows the rules of a playlist: what else plays when. The API and kubectl edit them. */
import type { Playlist } from '../../../service/client/index.ts';
import { Name } from '../../ui/name.tsx';
import page from '../../ui/page.module.css';
import { Panel } from '../../ui/panel.tsx';
import classes from './playlists.module.css';
import { ruleText } from './text.ts';

export function Rules({ rules }: Pick<Playlist, 'rules'>) {
  if (rules.length === 0) return null;
  return (
    <Panel title="Rules">
      <ul className={classes.lines} aria-label="Rules of this version">
        {rules.map((rule) => (
          <li key={rule.name}>
            <Name>{rule.name}</Name> <span className={page.dim}>{ruleText(rule)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
