import { words } from '../../words/en';
import { moment } from '../format/times';
import { useZone } from '../zone';
import styles from './chart-table.module.css';

interface ChartTableProps {
  readonly label: string;
  readonly series: readonly string[];
  readonly rows: readonly { readonly at: Date; readonly values: readonly string[] }[];
}

/** A chart's values as a table that can be read and copied. */
export function ChartTable({ label, series, rows }: ChartTableProps) {
  const zone = useZone();
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label={label}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{words.parts.time}</th>
            {series.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ at, values }) => (
            <tr key={at.getTime()}>
              <th scope="row">{moment(at, zone)}</th>
              {values.map((value, of) => (
                <td key={series[of]}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
