#!/bin/sh
# Draws the pictures of the gallery again: web/page/pictures.sh LIMBER OUT_DIR. Takes some minutes.
set -eu
limber=$1 out=$2
mkdir -p "$out"
for name in $("$limber" list | cut -d" " -f1); do
    [ -e "$out/$name.jpg" ] && continue
    case $name in
    statue*) at=0.4 ;;
    penguins) at=1.5 ;;
    crowd | pile | pile-soft | ball-pit | tower) at=2 ;;
    squeeze-duck) at=0.5 ;;
    liver-cut | infant) at=1.5 ;;
    fracture) at=1.2 ;;
    presets) at=0.35 ;;
    *) at=1 ;;
    esac
    "$limber" render "$name" --at "$at" --size 320x200 --out "$out/$name.png" >/dev/null
    ffmpeg -loglevel error -y -i "$out/$name.png" -q:v 6 "$out/$name.jpg"
    rm "$out/$name.png"
done
