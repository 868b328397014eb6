import os, sys as s
import a.b.c
from typing import List
from . import x, y as z
from .models import *
from __future__ import annotations
@dec(1)
# c
@dec2
class A(Base):
    """doc"""
    @property
    def run(self, a=1,
            b=2) -> int:  # c
        def inner(): return f"a{x['k']}b"
        return 1
match x:
    case 1:
        async def m(): pass
fn = lambda x: x
