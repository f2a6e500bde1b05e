import { documentWords } from '../../words/documents';
import styles from './route-graph.module.css';

/** A node of a routing config: a strategy with children, or a target. */
export interface RouteNode {
  readonly name: string;
  readonly note: string;
  /** On the path of the request. */
  readonly isTaken?: boolean;
  /** Label of the edge to this node, such as a weight or a condition. */
  readonly edge?: string;
  readonly children?: readonly RouteNode[];
}

const [WIDTH, HEIGHT, GAP_X, GAP_Y] = [116, 44, 88, 14];
/** Letters that fit in a node, and between two. */
const [IN_PLACE, BETWEEN] = [16, 13];

interface Placed {
  readonly node: RouteNode;
  readonly x: number;
  readonly y: number;
  readonly from: { readonly x: number; readonly y: number } | null;
}

/** Text that fits in a node. Its title has the complete text. */
const shortened = (text: string, most = IN_PLACE): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** Nodes from left to right by depth; a parent is centred on its children. */
function place(root: RouteNode): readonly Placed[] {
  const placed: Placed[] = [];
  let rows = 0;
  const visit = (node: RouteNode, depth: number): number => {
    const x = depth * (WIDTH + GAP_X);
    const children = node.children ?? [];
    const heights = children.map((child) => visit(child, depth + 1));
    const y =
      heights.length === 0 ? rows++ * (HEIGHT + GAP_Y) : ((heights[0] ?? 0) + (heights.at(-1) ?? 0)) / 2;
    children.forEach((child) => {
      const at = placed.findIndex((one) => one.node === child);
      const one = placed[at];
      if (one) placed[at] = { ...one, from: { x: x + WIDTH, y: y + HEIGHT / 2 } };
    });
    placed.push({ node, x, y, from: null });
    return y;
  };
  visit(root, 0);
  return placed;
}

/** The targets of a config as a tree; the path of a request is drawn bold, and also described in words. */
export function RouteGraph({ root }: { root: RouteNode }) {
  const placed = place(root);
  const [width, height] = [
    Math.max(...placed.map(({ x }) => x)) + WIDTH + 2,
    Math.max(...placed.map(({ y }) => y)) + HEIGHT + 2,
  ];
  return (
    <svg
      className={styles.graph}
      viewBox={`-1 -1 ${width} ${height}`}
      style={{ maxWidth: width }}
      role="img"
      aria-label={documentWords.graph.label}
    >
      {placed.map(({ node, x, y, from }) => (
        <g key={`${x} ${y}`} data-taken={node.isTaken || undefined}>
          {from && (
            <path
              d={`M${from.x},${from.y} C${from.x + 36},${from.y} ${x - 36},${y + HEIGHT / 2} ${x},${y + HEIGHT / 2}`}
            />
          )}
          {from && node.edge && (
            <text className={styles.note} x={x - 8} y={y + HEIGHT / 2 - 8} textAnchor="end">
              {shortened(node.edge, BETWEEN)}
            </text>
          )}
          <rect x={x} y={y} width={WIDTH} height={HEIGHT} rx={6} />
          <text x={x + 12} y={y + 19}>
            {shortened(node.name)}
          </text>
          <text className={styles.note} x={x + 12} y={y + 34}>
            {shortened(node.note)}
          </text>
          <title>{`${node.name}, ${node.note}${node.isTaken ? `, ${documentWords.graph.taken}` : ''}`}</title>
        </g>
      ))}
    </svg>
  );
}
