"""What the video shows: scenes of ffmpeg's own synthetic sources, quiet and busy ones in turn. Pure."""

from __future__ import annotations

from typing import Final

from linklab.measure.clip import Clip

_BUSY_S: Final = 8.8
"""The scenes that repeat below last so long together, and the first one fills up ten seconds."""
_POINTS: Final = ((-0.743643887, -0.131825904), (-1.25066, 0.02012), (-0.16, 1.0405), (0.2925755, -0.0149977))
"""Where the Mandelbrot set is worth a look."""
_COLOURS: Final = ("red", "blue", "green", "yellow", "purple")


def scenes(clip: Clip) -> tuple[tuple[str, float], ...]:
    """ffmpeg's filters of each scene, with how many seconds it lasts.

    Every ten seconds: a test card that hardly moves, one full of motion, a colour gradient, a zoom into the Mandelbrot
    set, Conway's game of life. Each round starts elsewhere, so no two seconds are alike. The rate of one second thus
    differs from the next by what the codec needs, as it does in a film.
    """
    found: list[tuple[str, float]] = []
    left_s, turn = clip.duration_s, 0
    while left_s > 1e-9:
        for source, lasts_s in _round(clip, turn):
            if left_s > 1e-9:
                found.append((source, min(lasts_s, left_s)))
                left_s -= lasts_s
        turn += 1
    return tuple(found)


def graph(clip: Clip) -> str:
    """The scenes one after the other, as one graph of filters whose output is called ``v``."""
    parts = scenes(clip)
    chains = [
        f"{source},trim=duration={lasts_s:.6f},setpts=PTS-STARTPTS,format=yuv420p,setsar=1[s{number}]"
        for number, (source, lasts_s) in enumerate(parts)
    ]
    joined = "".join(f"[s{number}]" for number in range(len(parts)))
    return ";".join([*chains, f"{joined}concat=n={len(parts)}:v=1,fps={clip.frames_per_s}[v]"])


def _round(clip: Clip, turn: int) -> tuple[tuple[str, float], ...]:
    size = f"size={clip.width}x{clip.height}:rate={clip.frames_per_s}"
    x, y = _POINTS[turn % len(_POINTS)]
    # cells of four pixels, that change 20 times a second
    cells = f"size={max(clip.width // 4, 16)}x{max(clip.height // 4, 16)}:rate={min(20, clip.frames_per_s)}"
    # ffmpeg 5.1 draws what is left open anew each time, whatever its seed
    colours = ":".join(f"c{number}={_COLOURS[(turn + number) % len(_COLOURS)]}" for number in range(4))
    ends = f"x0={clip.width // 8}:y0={clip.height // 12}:x1={clip.width * 7 // 8}:y1={clip.height * 11 // 12}"
    return (
        (f"testsrc={size}", 10 - _BUSY_S),
        (f"testsrc2={size}", 3.2),
        (f"gradients={size}:speed=0.01:nb_colors=4:{colours}:{ends}", 1.0),
        (f"mandelbrot={size}:maxiter=200:start_x={x}:start_y={y}:start_scale=3:end_scale=0.02:end_pts=3000", 2.6),
        (
            f"life={cells}:seed={1 + turn}:mold=10:ratio=0.3,"
            f"scale={clip.width}:{clip.height}:flags=neighbor,fps={clip.frames_per_s}",
            2.0,
        ),
    )
